/** How long the plan of one agent takes, beside a dry run of Helm alone, which a plan does twice. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureBinaries } from "@flotilla/local/binaries";
import { agentNamespace } from "@flotilla/shared/api/names";
import { namespaces } from "@flotilla/shared/kube/objects";
import { parsePlanAnswer } from "@flotilla/shared/plan";
import { isDeployed } from "../src/agent/agent-reports.ts";
import { assignmentOf } from "../src/agent/assignment.ts";
import { type ChartArchive, chartArchive } from "../src/harness/chart-archive.ts";
import { type ChartServer, startChartServer } from "../src/harness/chart-server.ts";
import { connectCluster } from "../src/harness/cluster-client.ts";
import { createControlPlanePool } from "../src/harness/control-plane-pool.ts";
import { type InProcessInstaller, startInstaller } from "../src/harness/in-process-installer.ts";
import { timed } from "./measure/bench-fleet.ts";
import { type Figure, median } from "./measure/figures.ts";

const run = promisify(execFile);

const rounds = 10;
/** ConfigMaps of a chart, and a Deployment. */
const sizes = [1, 79];
const allowedPerObjectMs = 10;

/** In a control plane of its own, without a hub. */
export async function planOfOneAgent(): Promise<readonly Figure[]> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-plan-"));
  const { helm, kustomize, confine } = await ensureBinaries(["helm", "kustomize", "confine"]);
  const pool = await createControlPlanePool(join(dir, "planes"));
  try {
    const { plane } = await pool.take("cluster");
    const client = await connectCluster(plane.kubeconfig);
    await client.create(namespaces, { metadata: { name: agentNamespace } });
    await client.close();
    const charts = await startChartServer();
    const { kubeconfig } = plane;
    const agent = await startInstaller({
      kubeconfig,
      helm,
      kustomize,
      confine,
      dataDir: join(dir, "agent"),
    });
    try {
      const figures: Figure[] = [];
      for (const size of sizes)
        figures.push(await figureOf({ agent, charts, helm, kubeconfig, dir }, size));
      return figures;
    } finally {
      await agent.stop();
      await charts.close();
    }
  } finally {
    await pool.close();
    await rm(dir, { recursive: true, force: true });
  }
}

interface Bench {
  readonly agent: InProcessInstaller;
  readonly charts: ChartServer;
  readonly helm: string;
  readonly kubeconfig: string;
  readonly dir: string;
}

async function figureOf(bench: Bench, size: number): Promise<Figure> {
  const { agent, charts, helm, kubeconfig, dir } = bench;
  const name = `plan-${size}`;
  const [one, two] = await Promise.all(["1.0.0", "2.0.0"].map((each) => chartOf(name, each, size)));
  assert.ok(one !== undefined && two !== undefined);
  charts.publish(one, two);
  const [installed, planned] = await Promise.all(
    [one, two].map((chart) => assignmentOf({ name, chart, url: charts.url })),
  );
  assert.ok(installed !== undefined && planned !== undefined);
  await agent.intake.assign(installed);
  await agent.report(isDeployed(name, "1.0.0"));
  const home = join(dir, name);
  await mkdir(home);
  const archive = join(home, "chart.tgz");
  await writeFile(archive, two.bytes);

  const ours: number[] = [];
  const bare: number[] = [];
  const objects = size + 1;
  // The first of each is not counted: caches fill.
  for (let round = 0; round <= rounds; round += 1) {
    const own = await timed(() => planOf(bench, planned, objects));
    const alone = await timed(async () => {
      const args = ["upgrade", "--install", "--dry-run=server", "--output=json"];
      await run(helm, [...args, `--namespace=${name}`, name, archive], {
        env: { HOME: home, KUBECONFIG: kubeconfig },
        maxBuffer: 64 * 1024 * 1024,
      });
    });
    if (round === 0) continue;
    ours.push(own);
    bare.push(alone);
  }
  const baseline = median(bare);
  return {
    what: `plan of one agent, ${objects} objects`,
    unit: "ms",
    value: median(ours),
    baseline: { what: "helm upgrade --dry-run=server", value: baseline },
    bar: 2 * baseline + allowedPerObjectMs * objects,
  };
}

async function planOf(
  { agent }: Bench,
  { deployment, deploymentId, content }: Awaited<ReturnType<typeof assignmentOf>>,
  objects: number,
): Promise<void> {
  const parts: string[] = [];
  const { signal } = new AbortController();
  await agent.answer(
    {
      deployment,
      body: {
        kind: "plan",
        deploymentId,
        ...(content !== undefined && { content }),
        key: randomBytes(32),
        withText: true,
        objects: [],
      },
    },
    { signal, write: (text) => Promise.resolve(void parts.push(text)) },
  );
  const answer = parsePlanAnswer(Buffer.from(parts.join("")));
  assert.equal(answer?.result.counts.update, objects, parts.join("").slice(0, 1_000));
}

/** Each version changes all objects. */
function chartOf(name: string, version: string, size: number): Promise<ChartArchive> {
  return chartArchive({
    name,
    version,
    templates: {
      "all.yaml": `{{- range $n := until ${size} }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "config-{{ $n }}"}
data: {version: {{ $.Chart.Version | quote }}, text: ${JSON.stringify("x".repeat(500))}}
{{- end }}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, version: {{ .Chart.Version | quote }}}}
    spec: {containers: [{name: web, image: example.com/web}]}
`,
    },
  });
}
