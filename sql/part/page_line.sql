-- The first line of the error n.error. Its length is bounded, since errors may be long and many.
split_part("left"(n.error::text, 200), E'\n', 1)
