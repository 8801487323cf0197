package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// turns is the served agent, seen by the one who puts its turns on a topic and by the one who
// executes resume commands.
type turns struct {
	url        string
	management string
}

type record struct {
	Key     string            `json:"key"`
	Value   string            `json:"value"`
	Headers map[string]string `json:"headers"`
}

type native struct {
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`
	Notes   []string          `json:"notes"`
}

// output is what an agent's output and a snapshot tell of the end of a turn.
type output struct {
	SessionID    string          `json:"sessionId"`
	SnapshotID   string          `json:"snapshotId"`
	ParentID     string          `json:"parentId"`
	Status       string          `json:"status"`
	FinishReason string          `json:"finishReason"`
	Message      json.RawMessage `json:"message"`
	Error        *struct {
		Message string `json:"message"`
	} `json:"error"`
}

func (t *turns) ask(text string) (reply, error) {
	content := []map[string]string{{"text": text}}
	message := map[string]any{"role": "user", "content": content}
	body, err := json.Marshal(map[string]any{"data": map[string]any{"message": message}})
	if err != nil {
		return reply{}, err
	}
	chunks, text, err := t.run(body, nil)
	if err != nil {
		return reply{}, err
	}
	_, records, err := t.records(chunks, text)
	return reply{Records: records}, err
}

func (t *turns) resume(command native) (reply, error) {
	problem, err := t.movedOn(command)
	if err != nil || problem != "" {
		return reply{End: "refused", Problem: problem}, err
	}
	chunks, text, err := t.run(command.Body, command.Headers)
	if err != nil {
		return reply{End: "refused", Problem: err.Error()}, nil
	}
	turn, records, err := t.records(chunks, text)
	switch {
	case err != nil:
		return reply{}, err
	case turn.Error != nil:
		return reply{Records: records, End: "refused", Problem: turn.Error.Message}, nil
	case turn.FinishReason == "interrupted":
		return reply{Records: records, End: "asks", Result: turn.Message}, nil
	}
	return reply{Records: records, End: "finished", Result: turn.Message}, nil
}

// run gives the chunks of a turn, where it is streamed, and the text of its output.
func (t *turns) run(body []byte, headers map[string]string) ([]string, string, error) {
	accept := map[string]string{"Accept": "application/json"}
	if t.management == "client" {
		accept["Accept"] = "text/event-stream"
	}
	text, err := post(t.url, body, headers, accept)
	if err != nil {
		return nil, "", err
	}
	var events []string
	for _, event := range strings.Split(strings.TrimSpace(text), "\n\n") {
		events = append(events, strings.TrimPrefix(event, "data: "))
	}
	last := len(events) - 1
	result, err := resultOf(events[last])
	return events[:last], result, err
}

// records are what a producer publishes of a turn: its chunks, its output, and its snapshot. That
// of a failed turn is the one it began with.
func (t *turns) records(chunks []string, text string) (output, []record, error) {
	var turn output
	if err := json.Unmarshal([]byte(text), &turn); err != nil {
		return turn, nil, err
	}
	values := append(slices.Clone(chunks), t.wrapped("output", text))
	if turn.SnapshotID != "" && turn.Error == nil {
		snapshot, err := t.snapshot(map[string]string{"snapshotId": turn.SnapshotID})
		if err != nil {
			return turn, nil, err
		}
		values = append(values, t.wrapped("snapshot", snapshot))
	}
	records := make([]record, 0, len(values))
	for _, value := range values {
		records = append(records, record{turn.SessionID, value, map[string]string{}})
	}
	return turn, records, nil
}

// movedOn says why a command must not be sent: the docs' check_leaf.
func (t *turns) movedOn(command native) (string, error) {
	if !slices.Contains(command.Notes, "check_leaf") {
		return "", nil
	}
	var sent struct {
		Init output `json:"init"`
	}
	if err := json.Unmarshal(command.Body, &sent); err != nil {
		return "", err
	}
	text, err := t.snapshot(map[string]string{"sessionId": sent.Init.SessionID})
	if err != nil {
		return "", err
	}
	var leaf output
	if err := json.Unmarshal([]byte(text), &leaf); err != nil {
		return "", err
	}
	isPaused := leaf.SnapshotID == sent.Init.SnapshotID && leaf.FinishReason == "interrupted"
	isFailedChild := leaf.ParentID == sent.Init.SnapshotID && leaf.Status == "failed"
	if isPaused || isFailedChild {
		return "", nil
	}
	return fmt.Sprintf("the session's leaf is %s, %s", leaf.SnapshotID, leaf.FinishReason), nil
}

func (t *turns) snapshot(lookup map[string]string) (string, error) {
	body, err := json.Marshal(map[string]any{"data": lookup})
	if err != nil {
		return "", err
	}
	text, err := post(t.url+"/getSnapshot", body, nil, nil)
	if err != nil {
		return "", err
	}
	return resultOf(strings.TrimSpace(text))
}

// wrapped is built as text, so that what is inside stays as it came.
func (t *turns) wrapped(place, text string) string {
	const head = `{"protocol":"genkit","agent":"bank","runtime":"go","stateManagement":%q,%q:%s}`
	return fmt.Sprintf(head, t.management, place, text)
}

func resultOf(text string) (string, error) {
	result, found := strings.CutPrefix(text, `{"result":`)
	if !found {
		return "", fmt.Errorf("no result: %s", text)
	}
	return strings.TrimSuffix(strings.TrimSpace(result), "}"), nil
}

func post(url string, body []byte, headers ...map[string]string) (string, error) {
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	for _, some := range headers {
		for name, value := range some {
			request.Header.Set(name, value)
		}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("HTTP %d: %s", response.StatusCode, text)
	}
	return string(text), err
}
