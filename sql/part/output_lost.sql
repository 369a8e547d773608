-- The notice of a task whose row was prepared before its SQL began. The end replaces it.
'NOTICE:  the output of this run is lost, as pgtaskd was interrupted before it could be written'
