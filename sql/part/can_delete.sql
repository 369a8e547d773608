-- Whether the page may delete the row t.
true
