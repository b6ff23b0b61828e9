/**
 * The charts of a run of helmfile, as packaged charts outside of the sandbox: downloaded by the agent's own client, or packed from a
 * folder of the run. A reader reads them; what is made of equal files has equal bytes.
 */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { AppError } from "@flotilla/shared/errors";
import {
  chartErrors,
  describePin,
  type RepositoryAccess,
  type SourceLocation,
} from "@flotilla/shared/source";
import type { SourceClient } from "@flotilla/shared/source/client";
import type * as z from "zod";
import { agentErrors } from "../../base/errors/index.ts";
import { type BuildTask, buildLimits, downloadFile, inspectReply } from "../../helm/index.ts";
import type { Readers } from "../../inputs/index.ts";

/** A packaged chart. */
export interface ObtainedChart {
  readonly name: string;
  readonly version: string;
  /** `sha256:` and hex, of the archive. */
  readonly digest: string;
  /** The path of the archive. */
  readonly file: string;
}

/** What a chart lacks in its folder `charts`. */
export type ChartInspection = Readonly<z.infer<typeof inspectReply>>;

/** What is packed: the bytes of a packaged chart, or a tar archive of its folder. */
export interface ChartBytes {
  readonly kind: "archive" | "folder";
  readonly bytes: Buffer;
  /** Where they are from, for messages. */
  readonly origin: string;
}

export interface ChartDeskOptions {
  readonly client: Pick<SourceClient, "resolve" | "fetch">;
  readonly readers: Pick<Readers, "run">;
  /** An empty folder of the run, outside of the sandbox. */
  readonly dir: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface ChartDesk {
  /** A chart from a repository; an empty constraint is the newest version. Equal requests have one download. */
  download(
    location: SourceLocation,
    constraint: string,
    access: RepositoryAccess,
  ): Promise<ObtainedChart>;
  inspect(chart: ChartBytes): Promise<ChartInspection>;
  pack(chart: ChartBytes): Promise<ObtainedChart>;
  /** Its files as a tar archive, in a folder with the chart's name. */
  unpacked(chart: ObtainedChart): Promise<Buffer>;
}

const MiB = 1024 * 1024;
/** Flux's limit of a chart. */
const maxArchiveBytes = 10 * MiB;
/** For all charts of a run, downloaded and packed. */
const maxRunBytes = 64 * MiB;

export function createChartDesk({
  client,
  readers,
  dir,
  timeoutMs,
  signal,
}: ChartDeskOptions): ChartDesk {
  const downloads = new Map<string, Promise<ObtainedChart>>();
  let files = 0;
  let bytes = 0;
  const nextFile = (): string => join(dir, `chart-${++files}`);

  const run = (task: BuildTask, digest: string, origin: string) =>
    readers.run(
      { kind: "build", task },
      { key: `helmfile ${task.step} ${digest}`, what: `read ${origin}` },
    );

  /** Throws LIMIT_EXCEEDED. */
  function count(more: number): void {
    bytes += more;
    if (bytes > maxRunBytes)
      throw new AppError(
        agentErrors.LIMIT_EXCEEDED,
        `the charts of the helmfile have more than ${maxRunBytes / MiB} MiB`,
      );
  }

  async function stored({ kind, bytes: content, origin }: ChartBytes) {
    count(content.length);
    const file = nextFile();
    await writeFile(file, content, { mode: 0o600 });
    return { source: { kind, file }, digest: digestOf(content), origin };
  }

  async function inspect(chart: ChartBytes): Promise<ChartInspection> {
    const { source, digest, origin } = await stored(chart);
    return inspectReply.parse(await run({ step: "inspect", source, origin }, digest, origin));
  }

  async function download(location: SourceLocation, constraint: string, access: RepositoryAccess) {
    const { pin } = await client.resolve(location, constraint, access, { signal });
    const file = nextFile();
    await downloadFile(client.fetch, pin, file, {
      access,
      signal,
      timeoutMs,
      maxBytes: maxArchiveBytes,
    });
    const archive = await readFile(file);
    count(archive.length);
    const origin = describePin(pin);
    const source = { kind: "archive", file } as const;
    const digest = digestOf(archive);
    const { name, version } = inspectReply.parse(
      await run({ step: "inspect", source, origin }, digest, origin),
    );
    return { name, version, digest, file };
  }

  return {
    download(location, constraint, access) {
      const key = JSON.stringify([location, constraint]);
      const before = downloads.get(key);
      if (before !== undefined) return before;
      const obtained = download(location, constraint, access);
      downloads.set(key, obtained);
      return obtained;
    },
    inspect,
    async pack(chart) {
      const { source, digest, origin } = await stored(chart);
      const { name, version } = inspectReply.parse(
        await run({ step: "inspect", source, origin }, digest, origin),
      );
      const target = nextFile();
      const maxBytes = maxArchiveBytes;
      await run(
        { step: "package", source, origin, dependencies: [], target, maxBytes },
        digest,
        origin,
      );
      return { name, version, digest: digestOf(await readFile(target)), file: target };
    },
    async unpacked({ file, name }) {
      try {
        return await promisify(gunzip)(await readFile(file), {
          maxOutputLength: buildLimits.chartBytes,
        });
      } catch (cause) {
        throw new AppError(
          chartErrors.CHART_BUILD,
          `unpack the chart ${JSON.stringify(name)}: it is not a packaged chart, or has too many bytes`,
          { cause },
        );
      }
    },
  };
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
