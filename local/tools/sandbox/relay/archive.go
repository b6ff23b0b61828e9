package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// Links may lead in circles; the system follows 40 of them.
	maxDepth = 40
	maxFiles = 20_000
)

// pack returns a tar archive of a folder: its files with their paths from it, sorted, without times and owners. Links are followed.
func pack(root string, limit int64) ([]byte, error) {
	packed := &packing{limit: limit}
	packed.tar = tar.NewWriter(&packed.bytes)
	if err := packed.add(root, "", 0); err != nil {
		return nil, err
	}
	if err := packed.tar.Close(); err != nil {
		return nil, err
	}
	return packed.bytes.Bytes(), nil
}

type packing struct {
	bytes bytes.Buffer
	tar   *tar.Writer
	limit int64
	files int
}

func (packed *packing) add(folder, name string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: more than %d folders in each other", folder, maxDepth)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path, inside := filepath.Join(folder, entry.Name()), filepath.Join(name, entry.Name())
		stat, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s: the link leads nowhere", path)
		case err != nil:
			return err
		case stat.IsDir():
			err = packed.add(path, inside, depth+1)
		case stat.Mode().IsRegular():
			err = packed.addFile(path, inside)
		default:
			err = fmt.Errorf("%s is neither a file nor a folder", path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (packed *packing) addFile(path, inside string) error {
	if packed.files++; packed.files > maxFiles {
		return fmt.Errorf("more than %d files", maxFiles)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	content, err := readAtMost(file, packed.limit-int64(packed.bytes.Len()))
	if err != nil {
		return fmt.Errorf("%s: with the files before it: %w", path, tooMuch(packed.limit))
	}
	head := &tar.Header{Name: filepath.ToSlash(inside), Mode: 0o644, Size: int64(len(content)), Format: tar.FormatPAX}
	if err := packed.tar.WriteHeader(head); err != nil {
		return err
	}
	_, err = packed.tar.Write(content)
	return err
}

// unpack writes the files of a tar archive below a folder, which it makes.
func unpack(archive []byte, root string) error {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	entries := tar.NewReader(bytes.NewReader(archive))
	for {
		head, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if head.Typeflag != tar.TypeReg {
			continue
		}
		if !filepath.IsLocal(head.Name) || strings.Contains(head.Name, `\`) {
			return fmt.Errorf("%s: the path %q leads out of the archive", root, head.Name)
		}
		content, err := io.ReadAll(entries)
		if err != nil {
			return err
		}
		if _, err := replaceFile(filepath.Join(root, head.Name), content); err != nil {
			return err
		}
	}
}
