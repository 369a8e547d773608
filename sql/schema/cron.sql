-- What is wrong with a cron expression, and where; null: nothing. It says what work/schedule says,
-- in the same words, and a test compares the two.
-- To read it character by character is slow here, so each value of a list is looked at once, by a
-- pattern. No text has a backslash but behind an E, as in functions.sql. Letters are made small by
-- hand: lower goes by the locale, in which the small letter of I may be another one.
-- The zone is tried as the session's own, which the end of the function takes back: the server
-- tells so in microseconds whether it has one of that name, and how that is spelt.
-- pg_timezone_names reads all their files.

CREATE OR REPLACE FUNCTION :schema.pgtaskd_cron(expr text) RETURNS text LANGUAGE plpgsql STABLE STRICT
SET search_path = pg_catalog, pg_temp SET TimeZone = 'GMT' AS $$
DECLARE
    line text := translate(expr, E'\t\r\n', '   ');
    tokens text[] := '{}'; places int4[] := '{}';
    place int4 := 1;
    token text; small text; match text[];
    what text := ''; wrong text;
    span interval;
    fields text[] := '{second,minute,hour,day of month,month,day of week}';
    lowest int4[] := '{0,0,0,1,1,0}'; highest int4[] := '{59,59,23,31,12,7}';
    names text[];
    low int4; high int4; step int4;
    skip int4; -- tokens before the first field, or -1: without seconds
    first int4 := 99; -- day of a month
    last bool := false; -- L
    longest int4 := 0; -- month
    outside bool := false;
BEGIN
    IF octet_length(expr) > 1024 THEN RETURN 'cron is longer than 1 kB'; END IF;
    match := regexp_match(line, '^[ -~]*');
    IF length(match[1]) < length(line) THEN RETURN concat('cron has a character that is not plain ASCII at character ', length(match[1]) + 1); END IF;
    LOOP
        match := regexp_match(substr(line, place), '^( *)([^ ]+)');
        EXIT WHEN match IS NULL OR cardinality(tokens) > 7;
        tokens := array_append(tokens, match[2]); places := array_append(places, place + length(match[1]));
        place := place + length(concat(match[1], match[2]));
    END LOOP;
    IF tokens = '{}' THEN RETURN 'cron is empty'; END IF;
    <<parse>>
    BEGIN
        IF tokens[1] ~ '^(CRON_)?TZ=' THEN
            what := 'time zone'; token := substr(tokens[1], strpos(tokens[1], '=') + 1);
            place := places[1] + strpos(tokens[1], '=');
            wrong := 'is not known: a zone is a name with a region, such as Europe/Berlin, or UTC';
            EXIT parse WHEN token !~ '^(UTC|GMT|[A-Z][A-Za-z_]*(/[A-Z][A-Za-z_-]*)+|Etc/GMT([+-]?0|[+]([1-9]|1[0-2])|-([1-9]|1[0-4])))$';
            BEGIN
                EXIT parse WHEN set_config('TimeZone', token, true) <> token;
            EXCEPTION WHEN invalid_parameter_value THEN EXIT parse;
            END;
            wrong := NULL;
            tokens := tokens[2:]; places := places[2:];
        END IF;
        IF tokens[1] = '@every' THEN
            what := 'name'; token := tokens[1]; place := places[1];
            wrong := 'needs an interval, such as @every 90 s, @every 1 hour or @every 1 month';
            EXIT parse WHEN cardinality(tokens) = 1;
            what := 'interval'; place := places[2]; token := rtrim(substr(line, place));
            wrong := 'is not understood: 90 s, 1 hour 30 min, 1 day or 1 month would be';
            EXIT parse WHEN token !~ '^([0-9]{1,9} *([A-Za-z]+( +|$)|[dhmsyDHMSY]))+$|^[0-9]{1,9}[.][0-9]{1,6} *[Ss]$';
            BEGIN
                span := token;
            EXCEPTION
                WHEN invalid_datetime_format THEN EXIT parse;
                WHEN datetime_field_overflow OR interval_field_overflow THEN span := '1001 years';
            END;
            wrong := 'must be above 0';
            EXIT parse WHEN span = '0';
            wrong := 'is too long: 1000 years are the most';
            EXIT parse WHEN span > '1000 years';
            RETURN NULL;
        END IF;
        IF tokens[1] ~ '^@' THEN
            what := 'name'; token := tokens[1]; place := places[1];
            wrong := 'is no time: insert a task when the server starts';
            EXIT parse WHEN token = '@reboot';
            wrong := 'is not known: there are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly and @every INTERVAL';
            EXIT parse WHEN token <> ALL ('{@yearly,@annually,@monthly,@weekly,@daily,@midnight,@hourly}');
            what := 'text'; token := tokens[2]; place := places[2]; wrong := 'follows a name, which stands alone';
            EXIT parse WHEN token IS NOT NULL;
            RETURN NULL;
        END IF;
        IF cardinality(tokens) < 5 THEN
            RETURN concat('cron ends at character ', length(line) + 1, ' after ', cardinality(tokens), ' field', CASE WHEN cardinality(tokens) <> 1 THEN 's' END, ': there are 5, or 6 with seconds first');
        END IF;
        what := 'text'; token := tokens[7]; place := places[7]; wrong := 'follows 6 fields';
        EXIT parse WHEN token IS NOT NULL;
        skip := cardinality(tokens) - 6;
        FOR i IN 1 - skip .. 6 LOOP
            what := fields[i];
            names := CASE i WHEN 5 THEN '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}' WHEN 6 THEN '{sun,mon,tue,wed,thu,fri,sat}' ELSE '{}' END;
            place := places[i + skip];
            FOREACH token IN ARRAY string_to_array(tokens[i + skip], ',') LOOP
                last := last OR i = 4 AND token = 'L';
                IF i = 4 AND token = 'L' THEN place := place + 2; CONTINUE; END IF;
                wrong := concat('is not *, a number, ', 'a name such as ' || names[1] || ', ', 'a range such as 1-5, ',
                    CASE WHEN i = 4 THEN 'a step such as */2, or L' ELSE 'or a step such as */2' END);
                small := translate(token, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');
                match := regexp_match(small, '^(?:[*]|([0-9]{1,9}|[a-z]+)(?:-([0-9]{1,9}|[a-z]+))?)(?:/([0-9]{1,9}))?$');
                EXIT parse WHEN match IS NULL;
                low := lowest[i]; high := CASE WHEN i = 6 THEN 6 ELSE highest[i] END;
                IF match[1] IS NOT NULL THEN
                    low := CASE WHEN match[1] ~ '[0-9]' THEN match[1]::int4 ELSE array_position(names, match[1]) - 1 + lowest[i] END;
                    outside := low < lowest[i] OR low > highest[i];
                    EXIT parse WHEN outside IS NOT FALSE;
                END IF;
                IF match[2] IS NOT NULL THEN
                    high := CASE WHEN match[2] ~ '[0-9]' THEN match[2]::int4 WHEN i = 6 AND match[2] = 'sun' AND low > 0 THEN 7
                        ELSE array_position(names, match[2]) - 1 + lowest[i] END;
                    outside := high < lowest[i] OR high > highest[i];
                    EXIT parse WHEN outside IS NOT FALSE;
                ELSIF match[1] IS NOT NULL AND match[3] IS NULL OR low > high THEN
                    high := low;
                END IF;
                wrong := 'runs backwards';
                EXIT parse WHEN low > high;
                step := coalesce(match[3], '1')::int4;
                wrong := concat('has a step that is not from 1 to ', highest[i]);
                EXIT parse WHEN step < 1 OR step > highest[i];
                IF i = 4 THEN
                    first := least(first, low);
                ELSIF i = 5 THEN
                    FOR month IN low .. high BY step LOOP
                        longest := greatest(longest, CASE WHEN month = 2 THEN 29 WHEN month IN (4, 6, 9, 11) THEN 30 ELSE 31 END);
                    END LOOP;
                END IF;
                place := place + length(token) + 1;
            END LOOP;
        END LOOP;
        IF last OR first <= longest OR tokens[4 + skip] !~ '^[*]' AND tokens[6 + skip] !~ '^[*]' THEN RETURN NULL; END IF;
        what := fields[4]; place := places[4 + skip]; token := tokens[5 + skip];
        wrong := format('never comes in month "%s"',
            CASE WHEN length(token) > 30 THEN concat(left(token, 27), '...') ELSE token END);
        token := tokens[4 + skip];
    END;
    IF outside THEN wrong := concat('is not from ', lowest[array_position(fields, what)], ' to ', highest[array_position(fields, what)]); END IF;
    RETURN format('%s "%s" at character %s %s', what,
        CASE WHEN length(token) > 30 THEN concat(left(token, 27), '...') ELSE token END, place, wrong);
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_cron IS 'What is wrong with cron; null: nothing (:version)';
