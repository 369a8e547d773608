-- The error of a repetition that was paused after failures.
concat('ERROR:  paused after ', f.failures, E' failures in a row\nHINT:  Set it to PLAN to go on.')
