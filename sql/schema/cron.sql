-- What is wrong with a cron expression, and where; null: nothing. It says what work/schedule says,
-- in the same words, and a test compares the two.
-- To read it character by character is slow here, so each value of a list is looked at once, by a
-- pattern. No text has a backslash but behind an E, as in functions.sql. Letters are made small by
-- hand: lower goes by the locale, in which the small letter of I may be another one.
-- The zone is tried as the session's own, which the end of the function takes back: the server
-- tells so in microseconds whether it has one of that name, and how that is spelt.
-- pg_timezone_names reads all their files.

CREATE OR REPLACE FUNCTION :schema.pgtaskd_cron_:hash(:schema.pgtaskd_call_:hash) RETURNS pg_catalog.text LANGUAGE plpgsql STABLE STRICT SECURITY INVOKER
SET search_path = pg_catalog, pg_temp SET TimeZone = 'GMT' AS $$
DECLARE
    expr pg_catalog.text := $1;
    line pg_catalog.text := pg_catalog.translate(expr, E'\t\r\n', '   ');
    tokens pg_catalog.text[] := '{}';
    places pg_catalog.int4[] := '{}';
    place pg_catalog.int4 := 1;
    token pg_catalog.text;
    small pg_catalog.text;
    match pg_catalog.text[];
    what pg_catalog.text := '';
    wrong pg_catalog.text;
    span pg_catalog.interval;
    fields pg_catalog.text[] := '{second,minute,hour,day of month,month,day of week}';
    lowest pg_catalog.int4[] := '{0,0,0,1,1,0}';
    highest pg_catalog.int4[] := '{59,59,23,31,12,7}';
    names pg_catalog.text[];
    low pg_catalog.int4;
    high pg_catalog.int4;
    step pg_catalog.int4;
    skip pg_catalog.int4; -- tokens before the first field, or -1: without seconds
    first pg_catalog.int4 := 99; -- day of a month
    last pg_catalog.bool := false; -- L
    longest pg_catalog.int4 := 0; -- month
BEGIN
    IF pg_catalog.octet_length(expr) OPERATOR(pg_catalog.>) 1024 THEN
        RETURN 'cron is longer than 1 kB';
    END IF;
    match := pg_catalog.regexp_match(line, '^[ -~]*');
    IF pg_catalog.length(match[1]) OPERATOR(pg_catalog.<) pg_catalog.length(line) THEN
        RETURN pg_catalog.concat('cron has a character that is not plain ASCII at character ', pg_catalog.length(match[1]) OPERATOR(pg_catalog.+) 1);
    END IF;
    LOOP
        match := pg_catalog.regexp_match(pg_catalog.substr(line, place), '^( *)([^ ]+)');
        EXIT WHEN match IS NULL OR pg_catalog.cardinality(tokens) OPERATOR(pg_catalog.>) 7;
        place := place OPERATOR(pg_catalog.+) pg_catalog.length(match[1]);
        tokens := pg_catalog.array_append(tokens, match[2]);
        places := pg_catalog.array_append(places, place);
        place := place OPERATOR(pg_catalog.+) pg_catalog.length(match[2]);
    END LOOP;
    IF tokens OPERATOR(pg_catalog.=) '{}' THEN
        RETURN 'cron is empty';
    END IF;
    <<parse>>
    BEGIN
        IF tokens[1] OPERATOR(pg_catalog.~) '^(CRON_)?TZ=' THEN
            what := 'time zone';
            token := pg_catalog.substr(tokens[1], pg_catalog.strpos(tokens[1], '=') OPERATOR(pg_catalog.+) 1);
            place := places[1] OPERATOR(pg_catalog.+) pg_catalog.strpos(tokens[1], '=');
            wrong := 'is not known: a zone is a name with a region, such as Europe/Berlin, or UTC';
            EXIT parse WHEN token OPERATOR(pg_catalog.!~)
                '^(UTC|GMT|[A-Z][A-Za-z_]*(/[A-Z][A-Za-z_-]*)+|Etc/GMT([+-]?0|[+]([1-9]|1[0-2])|-([1-9]|1[0-4])))$';
            BEGIN
                EXIT parse WHEN pg_catalog.set_config('TimeZone', token, true) OPERATOR(pg_catalog.<>) token;
            EXCEPTION WHEN invalid_parameter_value THEN
                EXIT parse;
            END;
            wrong := NULL;
            tokens := tokens[2:];
            places := places[2:];
        END IF;
        IF tokens[1] OPERATOR(pg_catalog.=) '@every' THEN
            what := 'name';
            token := tokens[1];
            place := places[1];
            wrong := 'needs an interval, such as @every 90 s, @every 1 hour or @every 1 month';
            EXIT parse WHEN pg_catalog.cardinality(tokens) OPERATOR(pg_catalog.=) 1;
            what := 'interval';
            place := places[2];
            token := pg_catalog.rtrim(pg_catalog.substr(line, place));
            small := pg_catalog.translate(token, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');
            wrong := 'is not understood: 90 s, 1 hour 30 min, 1 day or 1 month would be';
            -- A blank parts a unit from the next number, but for those of one letter that the
            -- server parts by itself.
            EXIT parse WHEN token OPERATOR(pg_catalog.!~) '^[0-9]+([.][0-9]+)?$'
                AND (token OPERATOR(pg_catalog.!~) '^P([0-9]+Y)?([0-9]+M)?([0-9]+W)?([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+([.][0-9]+)?S)?)?$'
                    OR token OPERATOR(pg_catalog.~) '[PT]$')
                AND (small OPERATOR(pg_catalog.!~) pg_catalog.concat('^([0-9]+([.][0-9]+)? *([dhmsy](?=[0-9]+[a-z])|(us|usecs?|useconds?|microseconds?|ms|msecs?|mseconds?|milliseconds?|',
                        's|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|mons?|months?|y|yrs?|years?|decs?|decades?|c|cent|century|centuries|mils?|millennia|millennium)( +|$)))*',
                        '([0-9]+:[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?)?$')
                    OR small OPERATOR(pg_catalog.~) ':' AND small OPERATOR(pg_catalog.~) pg_catalog.concat('[0-9] *(us|usecs?|useconds?|microseconds?|ms|msecs?|mseconds?|milliseconds?|',
                        's|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)([ 0-9])'));
            -- A part of a microsecond, of a month or longer, and a part of a second with
            -- milliseconds beside it.
            EXIT parse WHEN small OPERATOR(pg_catalog.~) '[.][0-9]{6}0*[1-9]|[.]0*[1-9][0-9]* *(us|mic)|[.][0-9]{3}0*[1-9][0-9]* *(ms|mil)|[.][0-9]+ *(mon|y|dec|c|mils?( |$)|mille)'
                OR small OPERATOR(pg_catalog.~) '[.][0-9]+ *s' AND small OPERATOR(pg_catalog.~) '[0-9] *(us|mic|ms|milli)';
            BEGIN
                IF EXISTS (SELECT FROM pg_catalog.regexp_matches(token, '(?:^|[^.0-9])0*([0-9]+)', 'g') AS r (n)
                    WHERE pg_catalog.length(r.n[1]) OPERATOR(pg_catalog.>) 10 OR r.n[1]::pg_catalog.int8 OPERATOR(pg_catalog.>) 2147483647) THEN
                    span := '1001 years';
                ELSE
                    span := token::pg_catalog.interval;
                END IF;
            EXCEPTION
                WHEN invalid_datetime_format THEN
                    EXIT parse;
                WHEN datetime_field_overflow OR interval_field_overflow THEN
                    span := '1001 years';
            END;
            wrong := 'must be above 0';
            EXIT parse WHEN span OPERATOR(pg_catalog.=) '0';
            wrong := 'is too long: 1000 years are the most, and 2147483647 of a unit';
            EXIT parse WHEN span OPERATOR(pg_catalog.>) '1000 years';
            RETURN NULL;
        END IF;
        IF tokens[1] OPERATOR(pg_catalog.~) '^@' THEN
            what := 'name';
            token := tokens[1];
            place := places[1];
            wrong := 'is no time: insert a task when the server starts';
            EXIT parse WHEN token OPERATOR(pg_catalog.=) '@reboot';
            wrong := 'is not known: there are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly and @every INTERVAL';
            EXIT parse WHEN token OPERATOR(pg_catalog.<>) ALL ('{@yearly,@annually,@monthly,@weekly,@daily,@midnight,@hourly}');
            what := 'text';
            token := tokens[2];
            place := places[2];
            wrong := 'follows a name, which stands alone';
            EXIT parse WHEN token IS NOT NULL;
            RETURN NULL;
        END IF;
        IF pg_catalog.cardinality(tokens) OPERATOR(pg_catalog.<) 5 THEN
            RETURN pg_catalog.concat('cron ends at character ', pg_catalog.length(line) OPERATOR(pg_catalog.+) 1, ' after ', pg_catalog.cardinality(tokens),
                CASE WHEN pg_catalog.cardinality(tokens) OPERATOR(pg_catalog.=) 1 THEN ' field' ELSE ' fields' END, ': there are 5, or 6 with seconds first');
        END IF;
        what := 'text';
        token := tokens[7];
        place := places[7];
        wrong := 'follows 6 fields';
        EXIT parse WHEN token IS NOT NULL;
        skip := pg_catalog.cardinality(tokens) OPERATOR(pg_catalog.-) 6;
        FOR i IN 1 OPERATOR(pg_catalog.-) skip .. 6 LOOP
            what := fields[i];
            names := CASE
                WHEN i OPERATOR(pg_catalog.=) 5 THEN '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}'
                WHEN i OPERATOR(pg_catalog.=) 6 THEN '{sun,mon,tue,wed,thu,fri,sat}'
                ELSE '{}'
            END::pg_catalog.text[];
            place := places[i OPERATOR(pg_catalog.+) skip];
            FOREACH token IN ARRAY pg_catalog.string_to_array(tokens[i OPERATOR(pg_catalog.+) skip], ',') LOOP
                IF i OPERATOR(pg_catalog.=) 4 AND token OPERATOR(pg_catalog.=) 'L' THEN
                    last := true;
                    place := place OPERATOR(pg_catalog.+) 2;
                    CONTINUE;
                END IF;
                wrong := pg_catalog.concat('is not *, a number, ',
                    CASE WHEN i OPERATOR(pg_catalog.>) 4 THEN pg_catalog.format('a name such as %s, ', names[1]) END, 'a range such as 1-5, ',
                    CASE WHEN i OPERATOR(pg_catalog.=) 4 THEN 'a step such as */2, or L' ELSE 'or a step such as */2' END);
                small := pg_catalog.translate(token, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');
                match := pg_catalog.regexp_match(small, '^(?:[*]|([0-9]{1,9}|[a-z]+)(?:-([0-9]{1,9}|[a-z]+))?)(?:/([0-9]{1,9}))?$');
                EXIT parse WHEN match IS NULL;
                low := lowest[i];
                high := CASE WHEN i OPERATOR(pg_catalog.=) 6 THEN 6 ELSE highest[i] END;
                IF match[1] IS NOT NULL THEN
                    low := CASE WHEN match[1] OPERATOR(pg_catalog.~) '[0-9]' THEN match[1]::pg_catalog.int4
                        ELSE pg_catalog.array_position(names, match[1]) OPERATOR(pg_catalog.-) 1 OPERATOR(pg_catalog.+) lowest[i] END;
                    EXIT parse WHEN low IS NULL;
                    IF low OPERATOR(pg_catalog.<) lowest[i] OR low OPERATOR(pg_catalog.>) highest[i] THEN
                        wrong := pg_catalog.concat('is not from ', lowest[i], ' to ', highest[i]);
                        EXIT parse;
                    END IF;
                END IF;
                IF match[2] IS NOT NULL THEN
                    high := CASE WHEN match[2] OPERATOR(pg_catalog.~) '[0-9]' THEN match[2]::pg_catalog.int4
                        WHEN i OPERATOR(pg_catalog.=) 6 AND match[2] OPERATOR(pg_catalog.=) 'sun' AND low OPERATOR(pg_catalog.>) 0 THEN 7
                        ELSE pg_catalog.array_position(names, match[2]) OPERATOR(pg_catalog.-) 1 OPERATOR(pg_catalog.+) lowest[i] END;
                    EXIT parse WHEN high IS NULL;
                    IF high OPERATOR(pg_catalog.<) lowest[i] OR high OPERATOR(pg_catalog.>) highest[i] THEN
                        wrong := pg_catalog.concat('is not from ', lowest[i], ' to ', highest[i]);
                        EXIT parse;
                    END IF;
                ELSIF match[1] IS NOT NULL AND match[3] IS NULL OR low OPERATOR(pg_catalog.>) high THEN
                    high := low;
                END IF;
                wrong := 'runs backwards';
                EXIT parse WHEN low OPERATOR(pg_catalog.>) high;
                step := coalesce(match[3], '1')::pg_catalog.int4;
                wrong := pg_catalog.concat('has a step that is not from 1 to ', highest[i]);
                EXIT parse WHEN step OPERATOR(pg_catalog.<) 1 OR step OPERATOR(pg_catalog.>) highest[i];
                IF i OPERATOR(pg_catalog.=) 4 THEN
                    first := least(first, low);
                ELSIF i OPERATOR(pg_catalog.=) 5 THEN
                    FOR month IN low .. high BY step LOOP
                        longest := greatest(longest, CASE WHEN month OPERATOR(pg_catalog.=) 2 THEN 29
                            WHEN month OPERATOR(pg_catalog.=) ANY ('{4,6,9,11}') THEN 30 ELSE 31 END);
                    END LOOP;
                END IF;
                place := place OPERATOR(pg_catalog.+) pg_catalog.length(token) OPERATOR(pg_catalog.+) 1;
            END LOOP;
        END LOOP;
        IF last OR first OPERATOR(pg_catalog.<=) longest
            OR tokens[4 OPERATOR(pg_catalog.+) skip] OPERATOR(pg_catalog.!~) '^[*]' AND tokens[6 OPERATOR(pg_catalog.+) skip] OPERATOR(pg_catalog.!~) '^[*]' THEN
            RETURN NULL;
        END IF;
        what := fields[4];
        place := places[4 OPERATOR(pg_catalog.+) skip];
        token := tokens[5 OPERATOR(pg_catalog.+) skip];
        wrong := pg_catalog.format('never comes in month "%s"',
            CASE WHEN pg_catalog.length(token) OPERATOR(pg_catalog.>) 30 THEN pg_catalog.concat(pg_catalog.left(token, 27), '...') ELSE token END);
        token := tokens[4 OPERATOR(pg_catalog.+) skip];
    END;
    RETURN pg_catalog.format('%s "%s" at character %s %s', what,
        CASE WHEN pg_catalog.length(token) OPERATOR(pg_catalog.>) 30 THEN pg_catalog.concat(pg_catalog.left(token, 27), '...') ELSE token END, place, wrong);
END
$$;
