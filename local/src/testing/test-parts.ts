/**
 * Real components for tests: a control plane, a registry, a chart repository. Each has a temporary folder that is deleted
 * after the test, and is ended even when the test process is killed.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBinaries } from "../binaries/index.ts";
import type { ControlPlaneSpec } from "../control-plane/control-plane.ts";
import { type ControlPlane, controlPlaneTools, startControlPlane } from "../control-plane/index.ts";
import { startReaper } from "../process/index.ts";
import {
  type BucketServer,
  type BucketServerSpec,
  type Registry,
  startBucketServer,
  startChartRepository,
  startRegistry,
} from "../registries/index.ts";
import type { ChartRepository, ChartRepositorySpec } from "../registries/start-chart-repository.ts";
import type { RegistrySpec } from "../registries/start-registry.ts";

/** The lifetime of a component: the context of a test, or `{ onTestFinished: afterAll }` for a whole file. */
export interface TestScope {
  onTestFinished(hook: () => Promise<void> | void): void;
}

/** A temporary folder that is deleted after the test. `stop` is called before, to stop what uses it. */
export async function testDir(
  scope: TestScope,
  stop: () => Promise<unknown> = () => Promise.resolve(),
): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-test-"));
  scope.onTestFinished(async () => {
    await stop();
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  });
  return dir;
}

/**
 * Starts a control plane that ends with the test. With `{ onTestFinished: afterAll }` as scope it lasts for the whole file.
 */
export async function startTestControlPlane(
  scope: TestScope,
  spec: Partial<ControlPlaneSpec> & Pick<ControlPlaneSpec, "workloads">,
): Promise<ControlPlane> {
  const reaper = startReaper();
  let plane: ControlPlane | undefined;
  const dir = await dirFor(scope, spec.dir, async () => {
    await plane?.stop();
    await reaper.release();
  });
  const binaries = spec.binaries ?? (await ensureBinaries(controlPlaneTools));
  plane = await startControlPlane({
    name: "test",
    shortLived: true,
    ...spec,
    dir,
    binaries,
    reaper,
  });
  return plane;
}

/** Starts an OCI registry that ends with the test. */
export async function startTestRegistry(
  scope: TestScope,
  spec: Partial<RegistrySpec> = {},
): Promise<Registry> {
  const reaper = startReaper();
  let registry: Registry | undefined;
  const dir = await dirFor(scope, spec.dir, async () => {
    await registry?.stop();
    await reaper.release();
  });
  const binary = spec.binary ?? (await ensureBinaries(["registry"])).registry;
  registry = await startRegistry({
    ...spec,
    dir,
    binary,
    reaper,
  });
  return registry;
}

/** Starts an S3 server that ends with the test. */
export async function startTestBucketServer(
  scope: TestScope,
  spec: Partial<BucketServerSpec> = {},
): Promise<BucketServer> {
  const reaper = startReaper();
  let server: BucketServer | undefined;
  const dir = await dirFor(scope, spec.dir, async () => {
    await server?.stop();
    await reaper.release();
  });
  const binary = spec.binary ?? (await ensureBinaries(["versitygw"])).versitygw;
  server = await startBucketServer({ ...spec, dir, binary, reaper });
  return server;
}

/** Starts an HTTP chart repository that ends with the test. */
export async function startTestChartRepository(
  scope: TestScope,
  spec: Partial<ChartRepositorySpec> = {},
): Promise<ChartRepository> {
  const reaper = startReaper();
  let repository: ChartRepository | undefined;
  const dir = await dirFor(scope, spec.dir, async () => {
    await repository?.stop();
    await reaper.release();
  });
  repository = await startChartRepository({
    ...spec,
    dir,
    reaper,
  });
  return repository;
}

/** The folder of a component that `stop` stops after the test: `dir`, or a temporary one that is deleted after that. */
async function dirFor(
  scope: TestScope,
  dir: string | undefined,
  stop: () => Promise<void>,
): Promise<string> {
  if (dir === undefined) return await testDir(scope, stop);
  scope.onTestFinished(stop);
  return dir;
}
