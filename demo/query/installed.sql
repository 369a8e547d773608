-- Whether the table is there, with the last column that pgtaskd makes.
SELECT EXISTS (
    SELECT FROM pg_attribute
    WHERE attrelid = to_regclass('public.task') AND attname = 'due' AND NOT attisdropped
)
