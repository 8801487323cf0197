// Genkit for Go as a peer: a bank's agent behind Genkit's own HTTP handler.
//
// One JSON object a line in, one JSON line out. The one argument says which agent: server, client
// or approval, as bank.go has them.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

const lineMax = 64 << 20

type request struct {
	Op     string `json:"op"`
	Case   string `json:"case"`
	Native native `json:"native"`
}

type reply struct {
	Versions map[string]string `json:"versions,omitempty"`
	Records  []record          `json:"records,omitempty"`
	End      string            `json:"end,omitempty"`
	Result   json.RawMessage   `json:"result,omitempty"`
	Problem  string            `json:"problem,omitempty"`
	Error    string            `json:"error,omitempty"`
}

func main() {
	replies := os.Stdout
	os.Stdout = os.Stderr // what libraries print must not stand between the replies
	turns, err := serveBank(context.Background(), os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := answer(os.Stdin, replies, turns); err != nil {
		panic(err)
	}
}

// answer takes requests in their order, until there are no more.
func answer(requests io.Reader, replies io.Writer, turns *turns) error {
	lines, out := bufio.NewScanner(requests), json.NewEncoder(replies)
	out.SetEscapeHTML(false)
	lines.Buffer(nil, lineMax)
	for lines.Scan() {
		said, err := replyTo(lines.Bytes(), turns)
		if err != nil {
			said = reply{Error: fmt.Sprintf("%T: %v", err, err)}
		}
		if err := out.Encode(said); err != nil {
			return err
		}
	}
	return lines.Err()
}

func replyTo(line []byte, turns *turns) (reply, error) {
	var asked request
	if err := json.Unmarshal(line, &asked); err != nil {
		return reply{}, err
	}
	switch asked.Op {
	case "hello":
		return reply{Versions: versions()}, nil
	case "ask":
		return turns.ask(asked.Case)
	case "resume":
		return turns.resume(asked.Native)
	}
	return reply{}, fmt.Errorf("no operation %s", asked.Op)
}

// versions are those that were linked; there is only one module that matters.
func versions() map[string]string {
	const genkit = "github.com/firebase/genkit/go"
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == genkit {
			return map[string]string{genkit: module.Version}
		}
	}
	return nil
}
