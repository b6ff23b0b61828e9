/** `flotilla charts publish`: packages a chart and pushes it to both repositories of the local fleet. */
import { join } from "node:path";
import { ensureBinaries } from "@flotilla/local/binaries";
import { publishChart } from "@flotilla/local/registries";
import { fleetPaths } from "@flotilla/local/state";
import { runningFleet } from "../fleet/index.ts";

export interface PublishChartOptions {
  readonly dir: string;
  readonly version?: string;
  readonly appVersion?: string;
}

export async function publish(chartDir: string, options: PublishChartOptions): Promise<void> {
  const { addresses } = await runningFleet(options.dir);
  const { helm } = await ensureBinaries(["helm"]);
  const { name, version, digest } = await publishChart(chartDir, {
    helm,
    ...(options.version !== undefined && { version: options.version }),
    ...(options.appVersion !== undefined && { appVersion: options.appVersion }),
    to: {
      chartsDir: join(fleetPaths(options.dir).chartRepository, "charts"),
      registry: { repository: addresses["registry"] ?? "", plainHttp: true },
    },
  });
  process.stdout.write(
    `Published ${name} ${version} (sha256:${digest})\n  repo: ${addresses["chartRepository"]}  chart: ${name}\n  repo: ${addresses["registry"]}/${name}\n`,
  );
}
