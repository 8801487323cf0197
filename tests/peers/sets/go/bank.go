package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"

	"github.com/firebase/genkit/go/ai"
	aix "github.com/firebase/genkit/go/ai/exp"
	"github.com/firebase/genkit/go/ai/exp/localstore"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/genkit/exp"
	"github.com/firebase/genkit/go/plugins/middleware"
)

const model = "scripted/bank"

type transfer struct {
	To     string  `json:"to"`
	Amount float64 `json:"amount"`
}

type transferred struct {
	Status string `json:"status"`
	Note   string `json:"note,omitempty"`
}

type question struct {
	Question string `json:"question"`
}

type answered struct {
	Answer string `json:"answer"`
}

// serveBank defines the agent and mounts it where Genkit's own layout has it.
//
//   - server: the tool itself asks and is restarted; snapshots are in a store here.
//   - client: an interrupt that takes a response; the caller keeps the state.
//   - approval: ToolApproval holds a tool that would ask nothing.
func serveBank(ctx context.Context, kind string) (*turns, error) {
	g := genkit.Init(ctx, genkit.WithExperimental(), genkit.WithPlugins(&middleware.Middleware{}))
	gated, limit := gatedTool(g, kind), checkLimit(g)
	defineScript(g, gated.Name())
	prompt := aix.InlinePrompt{ai.WithModelName(model), ai.WithTools(gated, limit)}
	if kind == "approval" {
		held := &middleware.ToolApproval{AllowedTools: []string{limit.Name()}}
		prompt = append(prompt, ai.WithUse(held))
	}
	var options []aix.AgentOption[any]
	if kind != "client" {
		store := localstore.NewInMemorySessionStore[any]()
		options = append(options, aix.WithSessionStore[any](store))
	}
	return listen(exp.DefineAgent(g, "bank", prompt, options...), kind)
}

func listen(agent *aix.Agent[any], kind string) (*turns, error) {
	mux := http.NewServeMux()
	for _, route := range exp.AgentRoutes(agent) {
		mux.HandleFunc(route.Pattern(), route.Handler())
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go http.Serve(listener, mux)
	url := fmt.Sprintf("http://%s/agents/%s", listener.Addr(), agent.Name())
	management := "server"
	if kind == "client" {
		management = "client"
	}
	return &turns{url, management}, nil
}

// --- Tools ---------------------------------------------------------------------------------------

// gatedTool is a tool of Genkit's stable API. Those of genkit/exp take no response in 1.12: they hold
// it to the envelope of their output instead of the output.
func gatedTool(g *genkit.Genkit, kind string) ai.Tool {
	switch kind {
	case "server":
		return genkit.DefineTool(g, "transferMoney", "Transfers money.", transferThatAsks)
	case "client":
		return genkit.DefineTool(g, "askUser", "Asks the person.", askUser)
	}
	return genkit.DefineTool(g, "transferMoney", "Transfers money.",
		func(*ai.ToolContext, transfer) (transferred, error) {
			return transferred{Status: "sent"}, nil
		})
}

func transferThatAsks(ctx *ai.ToolContext, wanted transfer) (transferred, error) {
	if ctx.Resumed == nil {
		reason := fmt.Sprintf("Transfer money to %s?", wanted.To)
		return transferred{}, interrupted(ctx, map[string]any{"reason": reason})
	}
	if approved, _ := ai.ResumedValue[bool](ctx, "approved"); !approved {
		return transferred{Status: "declined"}, nil
	}
	note, _ := ai.ResumedValue[string](ctx, "note")
	return transferred{Status: "sent", Note: note}, nil
}

func askUser(ctx *ai.ToolContext, asked question) (answered, error) {
	return answered{}, interrupted(ctx, map[string]any{"question": asked.Question})
}

func interrupted(ctx *ai.ToolContext, about map[string]any) error {
	return ctx.Interrupt(&ai.InterruptOptions{Metadata: about})
}

// checkLimit runs beside a question, and its output is falsy.
func checkLimit(g *genkit.Genkit) ai.Tool {
	return genkit.DefineTool(g, "checkLimit", "What is left.",
		func(*ai.ToolContext, struct{}) (int, error) { return 0, nil })
}

// --- The script ----------------------------------------------------------------------------------

// defineScript has a model that asks as often as the person's message says, then repeats what the
// tools gave. Its requests have no ref: Genkit gives them one each.
func defineScript(g *genkit.Genkit, gated string) {
	supports := &ai.ModelSupports{Multiturn: true, Tools: true}
	genkit.DefineModel(g, model, &ai.ModelOptions{Supports: supports},
		func(_ context.Context, asked *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
			message := ai.NewModelMessage(nextParts(asked.Messages, gated)...)
			return &ai.ModelResponse{Message: message, FinishReason: ai.FinishReasonStop}, nil
		})
}

// nextParts counts the model's own messages: those of the tools are missing from a session whose
// resumed turn paused again.
func nextParts(messages []*ai.Message, gated string) []*ai.Part {
	wanted, rounds, outputs := "", 0, []any{}
	for _, message := range messages {
		switch message.Role {
		case ai.RoleUser:
			wanted = message.Text()
		case ai.RoleModel:
			rounds++
		case ai.RoleTool:
			for _, part := range message.Content {
				outputs = append(outputs, part.ToolResponse.Output)
			}
		}
	}
	switch {
	case wanted == "two" && rounds == 0:
		return []*ai.Part{call(gated), call("checkLimit"), call(gated)}
	case rounds == 0, wanted == "again" && rounds == 1:
		return []*ai.Part{call(gated)}
	}
	said, _ := json.Marshal(outputs)
	return []*ai.Part{ai.NewTextPart(fmt.Sprintf("The tools said %s", said))}
}

func call(name string) *ai.Part {
	inputs := map[string]any{
		"transferMoney": map[string]any{"to": "payee-1 ✓", "amount": 50.25},
		"askUser":       map[string]any{"question": "Which account?"},
		"checkLimit":    map[string]any{},
	}
	return ai.NewToolRequestPart(&ai.ToolRequest{Name: name, Input: inputs[name]})
}
