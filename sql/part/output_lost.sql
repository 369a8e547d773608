-- The notice of a task whose row was prepared before its SQL began, until its end is written.
'NOTICE:  the output of this run is lost, as pgtaskd was interrupted before it could be written'
