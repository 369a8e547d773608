-- The error x.error as it may be searched: without passwords, as human.Masked does it, and if the
-- input is hidden, only up to the lines that show SQL.
-- $8 whether input is hidden
CASE
        WHEN x.error !~* 'passw|://' AND NOT $8::bool THEN x.error
        ELSE regexp_replace(regexp_replace(regexp_replace(
            CASE WHEN $8::bool THEN regexp_replace(x.error, '(^|\n)(QUERY|CONTEXT|STATEMENT):.*', '') ELSE x.error END,
            '(passw(or)?d["'']?\s*[=:]?\s*(E|U&)?)(''+(\\.|''''|[^''\\])*''*|\$\w*\$[^$]*(\$\w*\$)?|"(\\.|[^"\\])*"?)', '\1***', 'gi'),
            '(passw(or)?d\s*=\s*)(\\.|[^[:space:]''\\])+', '\1***', 'gi'),
            '(://[^[:space:]/:@]*:)([^[:space:]'']*(@)|[^[:space:]''@]+)', '\1***\3', 'gi')
    END
