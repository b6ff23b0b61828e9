//go:build !linux

package main

import "fmt"

const noLandlock = "Landlock is a part of Linux"

func availableAbi(request) (abi int, reason string) {
	return 0, noLandlock
}

func restrict(request) error {
	return fmt.Errorf("%s; %w", noLandlock, errUnsupported)
}
