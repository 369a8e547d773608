module pgtask/bench

go 1.26.0

require (
	github.com/jackc/pgx/v5 v5.12.0
	github.com/rs/zerolog v1.35.1
	pgtask v0.0.0
)

require (
	github.com/agext/levenshtein v1.2.3 // indirect
	github.com/fsnotify/fsnotify v1.10.1 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.41.0 // indirect
)

replace pgtask => ../
