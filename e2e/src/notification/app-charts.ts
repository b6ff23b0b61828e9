/** The charts whose upgrades succeed and fail in the stories of Alerts. */
import { chartArchive, configChart } from "../harness/chart-archive.ts";
import type { ChartServer } from "../harness/chart-server.ts";
import { rejectedText } from "../harness/object-text.ts";

/** The chart `app` with the versions 1.0.0 and 1.1.0, and 2.0.0, of which the API server rejects an object. */
export async function publishAppCharts(charts: ChartServer): Promise<void> {
  charts.publish(
    await configChart("app", "1.0.0"),
    await configChart("app", "1.1.0"),
    await chartArchive({
      name: "app",
      version: "2.0.0",
      templates: {
        "bad.yaml": rejectedText(),
      },
    }),
  );
}
