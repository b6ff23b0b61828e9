module flotilla.local/tools/confine

go 1.26
