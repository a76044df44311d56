package main

import (
	"io"
	"net/http"
	"os"
)

func main() {
	r, err := http.Get(os.Args[1])
	if err != nil {
		panic(err)
	}
	if r.StatusCode != 200 {
		panic(r.Status)
	}
	f, err := os.Create(os.Args[2])
	if err != nil {
		panic(err)
	}
	if _, err := io.Copy(f, r.Body); err != nil {
		panic(err)
	}
	f.Close()
}
