-- Says what is wrong with a cron expression, and in which field; null: nothing. It accepts the same
-- as work/schedule; a test compares the two. If the expression names no zone, at is the zone.
-- Only if until is near it looks for a beat: an expression has one within nine years, with rare
-- exceptions, of which the leader tells. hits has the values of all fields: 100 * field + value; 400
-- is the last day of a month, since 401 - the next day is 400.
-- Backslashes occur only in texts after an E, as in functions.sql. It tries the zone as the
-- session's own, and the end of the function restores that: reading pg_timezone_names would read
-- all zone files. A data exception: the server cannot read a zone, an interval or a number.

CREATE OR REPLACE FUNCTION :schema.pgtaskd_cron(expr text, until timestamptz DEFAULT 'infinity', at text DEFAULT 'GMT') RETURNS text LANGUAGE plpgsql STABLE STRICT
SET search_path = pg_catalog, pg_temp SET TimeZone = 'GMT' AS $$
DECLARE
    line text := btrim(translate(expr, E'\t\r\n', '   '));
    zone text := substring(line FROM '^(?:CRON_)?TZ=([^ ]*)');
    beats text := btrim(regexp_replace(line, '^(CRON_)?TZ=[^ ]*', ''));
    every text := btrim(substring(beats FROM '^@every( .*|$)'));
    called jsonb := '{"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *"}';
    fields text[] := regexp_split_to_array(coalesce(called ->> beats, beats), ' +');
    names text[] := '{second: 0 to 59,minute: 0 to 59,hour: 0 to 23,day of month: 1 to 31 or L,month: 1 to 12 or jan to dec,day of week: 0 to 7 or sun to sat}';
    lowest int4[] := '{0,0,0,1,1,0}';
    highest int4[] := '{59,59,23,31,12,7}';
    words text[]; item text; match text[]; low int4; high int4; step int4;
    hits int4[];
    late text;
    wrong text;
BEGIN
    IF octet_length(expr) > 1024 THEN RETURN 'cron is longer than 1 kB'; END IF;
    wrong := format('time zone "%s" is not known: a zone is a name of the tz database, such as Europe/Berlin', zone);
    late := concat('until is before the first run in time zone ', set_config('TimeZone', coalesce(zone, at), true));
    IF zone !~ '^([A-Z][A-Za-z_-]*(/[A-Z][A-Za-z_-]*)*|(Etc/)?GMT[+-]?0|Etc/GMT([+]([1-9]|1[0-2])|-([1-9]|1[0-4]))|EST5EDT|CST6CDT|MST7MDT|PST8PDT)$' OR current_setting('TimeZone') <> zone THEN
        RETURN wrong;
    ELSIF every IS NOT NULL THEN
        wrong := format('interval "%s" is not understood: 90 s, 1 hour 30 min or 1 month would be, and up to 1000 years', every);
        RETURN CASE WHEN every ~ '^([0-9]{1,9} *([A-Za-z]+( +|$)|[dhmsyDHMSY]))+$|^[0-9]{1,9}[.][0-9]{1,6} *[Ss]$' AND every::interval BETWEEN '1 us' AND '1000 years'
            THEN CASE WHEN statement_timestamp() + every::interval > until THEN late END ELSE wrong END;
    ELSIF fields[1] ~ '^@' THEN
        RETURN format('name "%s" is not known: there are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly and @every with an interval', beats);
    ELSIF cardinality(fields) NOT IN (5, 6) THEN
        RETURN format('cron has %s fields: there are 5, or 6 with seconds first', cardinality(array_remove(fields, '')));
    ELSIF cardinality(fields) = 5 THEN
        fields := array_prepend('0', fields);
    END IF;
    FOR i IN 1 .. 6 LOOP
        words := CASE i WHEN 5 THEN '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}' WHEN 6 THEN '{sun,mon,tue,wed,thu,fri,sat,sun}' END;
        FOREACH item IN ARRAY string_to_array(fields[i], ',') LOOP
            IF i = 4 AND item = 'L' THEN
                hits := hits || 400;
                CONTINUE;
            END IF;
            wrong := format('"%s" is no %s, *, a range such as 1-5, or a step such as */2', item, names[i]);
            match := regexp_match(lower(item COLLATE "C"), '^(?:[*]|([0-9]+|[a-z]+)(?:-([0-9]+|[a-z]+))?)(?:/([0-9]+))?$');
            low := coalesce(array_position(words, match[1]) - 1 + lowest[i], match[1]::int4, lowest[i]);
            high := coalesce(array_position(words, match[2], low + 1 - lowest[i]) - 1 + lowest[i], match[2]::int4,
                CASE WHEN match[1] IS NULL OR match[3] IS NOT NULL THEN highest[i] ELSE low END);
            step := coalesce(match[3], '1')::int4;
            IF match IS NULL OR low < lowest[i] OR low > high OR high > highest[i] OR step NOT BETWEEN 1 AND highest[i] THEN
                RETURN wrong;
            END IF;
            hits := hits || ARRAY(SELECT 100 * i + n FROM generate_series(low, high, step) AS n);
        END LOOP;
    END LOOP;
    IF (SELECT min(n) FILTER (WHERE n / 100 = 4) - 400 > max(('{31,29,31,30,31,30,31,31,30,31,30,31}'::int4[])[n - 500]) FROM unnest(hits) AS n) AND fields[6] ~ '^[*]' THEN
        RETURN format('day of month "%s" never comes in month "%s"', fields[4], fields[5]);
    END IF;
    RETURN CASE WHEN until < statement_timestamp() + '9 years' AND NOT EXISTS (
        SELECT FROM generate_series(current_date, until::timestamp, '1 day') AS d,
            LATERAL (SELECT hits && ARRAY[400 + date_part('day', d)::int4, 401 - date_part('day', d + '1 day')::int4] AS dom,
                hits && ARRAY[600 + date_part('dow', d)::int4, 600 + date_part('isodow', d)::int4] AS dow) AS day,
            unnest(hits) AS h, unnest(hits) AS m, unnest(hits) AS s
        WHERE 500 + date_part('month', d) = ANY (hits) AND CASE WHEN fields[4] ~ '^[*]' OR fields[6] ~ '^[*]' THEN dom AND dow ELSE dom OR dow END
            AND h / 100 = 3 AND m / 100 = 2 AND s / 100 = 1
            AND tstzrange(statement_timestamp(), greatest(until, statement_timestamp()), '(]') @> (d + make_interval(0, 0, 0, 0, h - 300, m - 200, s - 100))::timestamptz
    ) THEN late END;
EXCEPTION WHEN data_exception THEN
    RETURN wrong;
END
$$;
COMMENT ON FUNCTION :schema.pgtaskd_cron IS 'Says what is wrong with cron (:version)';
