package main

import (
	"time"
	_ "time/tzdata"

	"github.com/reugn/go-quartz/quartz"
)

// startsQuestion asks for the starts of an expression after a time, which is in milliseconds since 1970.
type startsQuestion struct {
	Expression string `json:"expression"`
	Zone       string `json:"zone"`
	After      int64  `json:"after"`
	Count      int    `json:"count"`
}

// Starts are in milliseconds since 1970; fewer than asked for where there are no more.
type startsAnswer struct {
	Error  string  `json:"error,omitempty"`
	Starts []int64 `json:"starts,omitempty"`
}

// answerStarts asks as Fleet does: for the start after a time, and then for the one after that start.
func answerStarts(input startsQuestion) startsAnswer {
	location, err := time.LoadLocation(input.Zone)
	if err != nil {
		return startsAnswer{Error: err.Error()}
	}
	trigger, err := quartz.NewCronTriggerWithLoc(input.Expression, location)
	if err != nil {
		return startsAnswer{Error: err.Error()}
	}
	given := startsAnswer{Starts: []int64{}}
	last := time.UnixMilli(input.After).UnixNano()
	for range input.Count {
		next, err := trigger.NextFireTime(last)
		if err != nil || next <= last {
			break
		}
		given.Starts = append(given.Starts, time.Unix(0, next).UnixMilli())
		last = next
	}
	return given
}
