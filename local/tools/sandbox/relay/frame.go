package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// A frame is a JSON text and a payload of bytes behind it; before both stand their lengths, of four bytes each, the greatest first.
const (
	maxText    = 4 << 20
	maxPayload = 128 << 20
)

func writeFrame(to io.Writer, text any, payload []byte) error {
	encoded, err := json.Marshal(text)
	if err != nil {
		return err
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(encoded)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(payload)))
	// In one piece: the agent may have answered and closed before an empty payload is written.
	_, err = to.Write(append(append(frame, encoded...), payload...))
	return err
}

func readFrame(from io.Reader, text any) ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, err
	}
	textLength, payloadLength := binary.BigEndian.Uint32(head[:4]), binary.BigEndian.Uint32(head[4:])
	if textLength > maxText || payloadLength > maxPayload {
		return nil, fmt.Errorf("a frame of %d and %d bytes is too long", textLength, payloadLength)
	}
	bytes := make([]byte, textLength+payloadLength)
	if _, err := io.ReadFull(from, bytes); err != nil {
		return nil, err
	}
	return bytes[textLength:], json.Unmarshal(bytes[:textLength], text)
}
