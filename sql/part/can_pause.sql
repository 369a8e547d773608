-- Whether the page may pause the task of the row t: it waits.
t.state = 'PLAN'
