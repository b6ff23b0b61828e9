/** What Flux's sources read, in memory: an index of charts, a bucket, a Git repository and a registry. */
import { createHash } from "node:crypto";
import { AppError } from "@flotilla/shared/errors";
import { chartErrors } from "@flotilla/shared/source";
import { objectsDigest } from "@flotilla/shared/source/bucket";
import type { ReadIndex } from "@flotilla/shared/source/client";
import { gitErrors } from "@flotilla/shared/source/git";
import type { TestLeaderOptions } from "../../../testing/index.ts";
import type { FluxDeps } from "../deps.ts";
import { indexUnreachable, type RepositoryState, repo } from "./fleet-steps.ts";

/** The versions of the chart in sources that have one at a time. */
export const sourceVersions = ["1.0.0", "1.1.0"] as const;

/** All of them, for the leader of a test. */
export function sourcesOf(
  repository: RepositoryState,
): Required<Pick<TestLeaderOptions, "readIndex" | "bucketClient" | "git" | "artifacts">> {
  return {
    readIndex: readIndexOf(repository),
    bucketClient: bucketClientOf(repository),
    git: gitOf(repository),
    artifacts: artifactsOf(repository),
  };
}

/** The index of a repository: its digest is another one after each new version. */
function readIndexOf(repository: RepositoryState): ReadIndex {
  return () => {
    repository.requests += 1;
    if (!repository.isUp) return Promise.reject(indexUnreachable());
    const text = `web ${repository.version}`;
    return Promise.resolve({
      indexUrl: `${repo}/index.yaml`,
      digest: `sha256:${hash("sha256", text)}`,
      sizeBytes: text.length,
      names: ["web"],
    });
  };
}

/** A bucket with one chart. Lists are kept in memory, so its requests are not counted. */
function bucketClientOf(repository: RepositoryState): FluxDeps["bucketClient"] {
  return {
    list() {
      const { inBucket } = repository;
      const objects =
        inBucket === undefined
          ? []
          : [{ key: "web/Chart.yaml", etag: inBucket, sizeBytes: chartFile(inBucket).length }];
      return Promise.resolve({ digest: objectsDigest(objects), objects, sizeBytes: 0 });
    },
    readObject: (_location, { etag = "" }) => Promise.resolve(Buffer.from(chartFile(etag))),
  };
}

/** A Git repository with one chart, a commit for each version. Files of commits are kept in memory, so reads of them do not fail. */
function gitOf(repository: RepositoryState): FluxDeps["gitParts"]["git"] {
  return {
    resolve(_url, { branch = "main", commit }) {
      if (commit !== undefined) return Promise.resolve({ revision: `sha1:${commit}`, commit });
      repository.requests += 1;
      if (!repository.isUp)
        return Promise.reject(new AppError(gitErrors.GIT_UNREACHABLE, "fetch: connection refused"));
      const current = commitOf(repository.inGit ?? "");
      const ref = `refs/heads/${branch}`;
      return Promise.resolve({ revision: `${branch}@sha1:${current}`, commit: current, ref });
    },
    async readFiles({ commit, files }, { parse }) {
      const version = sourceVersions.find((each) => commitOf(each) === commit) ?? "";
      const found = files.filter(({ path }) => path === "charts/web/Chart.yaml");
      const contents = found.map(
        async ({ path }) => [path, await parse(path, Buffer.from(chartFile(version)))] as const,
      );
      return {
        present: new Set(found.map(({ path }) => path)),
        contents: new Map(await Promise.all(contents)),
      };
    },
    verify: () => Promise.reject(new Error("this repository has no signatures")),
  };
}

/** A registry with one chart, to which a tag points. */
function artifactsOf(repository: RepositoryState): FluxDeps["artifacts"] {
  return {
    tagOf: (_query, { tag }) => Promise.resolve(tag),
    digestOf() {
      repository.requests += 1;
      return repository.isUp
        ? Promise.resolve(manifestOf(repository.inRegistry ?? ""))
        : Promise.reject(
            new AppError(chartErrors.REGISTRY_UNREACHABLE, "HEAD manifest: connection refused"),
          );
    },
    read(_query, digest) {
      repository.requests += 1;
      const version = sourceVersions.find((each) => manifestOf(each) === digest) ?? "";
      return Promise.resolve({
        annotations: {},
        layer: {
          mediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
          digest: `sha256:${hash("sha256", `chart ${version}`)}`,
          sizeBytes: 5,
        },
        chart: { name: "web", version },
      });
    },
    isSigned: () => Promise.resolve(false),
  };
}

function chartFile(version: string): string {
  return `name: web\nversion: ${version}\n`;
}

function commitOf(version: string): string {
  return hash("sha1", version);
}

function manifestOf(version: string): string {
  return `sha256:${hash("sha256", `manifest ${version}`)}`;
}

function hash(algorithm: "sha1" | "sha256", text: string): string {
  return createHash(algorithm).update(text).digest("hex");
}
