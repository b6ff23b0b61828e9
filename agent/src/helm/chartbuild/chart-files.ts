/** The files of a chart in memory, by their path from the chart's root. */
import { AppError } from "@flotilla/shared/errors";
import { chartErrors } from "@flotilla/shared/source";
import { type ChartMetadata, parseChartMetadata } from "@flotilla/shared/source/chartbuild";
import { describeBytes } from "@flotilla/shared/source/transport";

export type ChartFiles = ReadonlyMap<string, Buffer>;

export interface BuildLimits {
  /** All files of a chart, uncompressed. */
  readonly chartBytes: number;
  /** A file in a directory, uncompressed. */
  readonly fileBytes: number;
  readonly files: number;
  /** Directories within directories. */
  readonly depth: number;
}

const MiB = 1024 * 1024;

/** Helm's limit of a chart, and Flux's of a file. */
export const buildLimits: BuildLimits = {
  chartBytes: 100 * MiB,
  fileBytes: 5 * MiB,
  files: 20_000,
  // The system follows 40 links.
  depth: 32,
};

/** Counts the files of a chart. `what` is read, for messages. Throws CHART_BUILD. */
export function createFileCount(what: string, limits: BuildLimits) {
  let bytes = 0;
  let files = 0;
  return {
    add(sizeBytes: number): void {
      bytes += sizeBytes;
      files += 1;
      if (bytes > limits.chartBytes)
        throw buildError(`${what}: its files have more than ${describeBytes(limits.chartBytes)}`);
      if (files > limits.files) throw buildError(`${what}: it has more than ${limits.files} files`);
    },
  };
}

/** Throws CHART_BUILD. `where`: of the chart, before its Chart.yaml in messages. */
export function metadataOf(files: ChartFiles, where = ""): ChartMetadata {
  const text = textOf(files, "Chart.yaml");
  if (text === undefined) throw buildError(`${where}Chart.yaml is missing`);
  return parseChartMetadata(text, {
    name: `${where}Chart.yaml`,
    requirements: textOf(files, "requirements.yaml"),
  });
}

export function textOf(files: ChartFiles, path: string): string | undefined {
  return files.get(path)?.toString();
}

export function buildError(message: string, cause?: unknown): AppError {
  return new AppError(chartErrors.CHART_BUILD, message, { cause });
}
