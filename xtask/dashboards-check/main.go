// Decodes dashboards strictly by the types that Grafana's makers publish: a member that they
// do not know, that is missing or has another type, is an error.
package main

import (
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

func main() {
	runtime := cog.NewRuntime()
	runtime.RegisterPanelcfgVariant(bargauge.VariantConfig())
	runtime.RegisterPanelcfgVariant(heatmap.VariantConfig())
	runtime.RegisterPanelcfgVariant(stat.VariantConfig())
	runtime.RegisterPanelcfgVariant(statetimeline.VariantConfig())
	runtime.RegisterPanelcfgVariant(table.VariantConfig())
	runtime.RegisterPanelcfgVariant(timeseries.VariantConfig())
	runtime.RegisterDataqueryVariant(prometheus.VariantConfig())
	failed := len(os.Args) < 2
	for _, path := range os.Args[1:] {
		if err := decode(path); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			failed = true
		} else {
			fmt.Printf("%s: decoded\n", path)
		}
	}
	if failed {
		os.Exit(1)
	}
}

func decode(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var board dashboard.Dashboard
	// Where nothing is wrong the answer may be a list without errors, which is not nil.
	if err := board.UnmarshalJSONStrict(text); err != nil && err.Error() != "" {
		return err
	}
	return board.Validate()
}
