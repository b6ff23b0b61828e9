module flotilla.local/tools/sandbox

go 1.26
