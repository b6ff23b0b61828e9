import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BucketPin, DownloadPin, GitPin, RepositoryAccess } from "@flotilla/shared/source";
import { ChartCache } from "@flotilla/shared/source/cache";
import { expect, onTestFinished, test } from "vitest";
import { inspectReply, performBuildTask } from "./build-task.ts";
import { createFetchArchive } from "./fetch-archive.ts";

const pin: GitPin = {
  ...{ kind: "git", version: "1.0.0+1", url: "https://git.example.com/shop.git" },
  ...{ commit: "0".repeat(40), path: "shop", build: {} },
};
const bucket: BucketPin = {
  ...{ kind: "bucket", version: "1.0.0", endpoint: "s3.example.com", bucketName: "charts" },
  ...{ digest: `sha256:${"0".repeat(64)}`, path: "shop", build: {} },
};
const access: RepositoryAccess = {
  origin: "https://git.example.com",
  password: "of the repository",
  dependencies: [{ url: "https://charts.example.com/x/", access: { password: "of the charts" } }],
};
const chartYaml = (fields = "") => `apiVersion: v2\nname: shop\nversion: 1.0.0\n${fields}`;

const sourceDigest = `sha256:${"5".repeat(64)}`;

/** Checks out one file, and has one dependency. */
async function fetcher({ text = chartYaml(), isSlow = false } = {}) {
  const dir = await mkdtemp(join(tmpdir(), "fetch-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  const seen: string[] = [];
  const builds = join(dir, "builds");
  await mkdir(join(builds, "build-old"), { recursive: true });
  const fetch = createFetchArchive({
    dir: builds,
    charts: {
      resolve(location, version, { password }) {
        seen.push(`resolve ${JSON.stringify(location)} ${version} with ${password}`);
        const found: DownloadPin = { kind: "tarball", url: "https://charts.example.com/x.tgz" };
        return Promise.resolve({ pin: found, problems: [] });
      },
      fetch: () => Promise.reject(new Error("not found")),
      buckets: {
        async checkout({ path }, root) {
          seen.push(`check out ${path}`);
          await mkdir(join(root, path));
          await writeFile(join(root, path, "Chart.yaml"), text);
          return sourceDigest;
        },
      },
    },
    git: {
      async checkout(_, root, { signal }) {
        seen.push(`check out, beside ${(await readdir(builds)).join()}`.replace(/-[^-]{6}$/, ""));
        await mkdir(join(root, "shop"));
        await writeFile(join(root, "shop", "Chart.yaml"), text);
        if (isSlow && signal?.aborted === false) await once(signal, "abort");
      },
    },
    async buildChart(task) {
      const value = await performBuildTask(task);
      return task.step === "inspect" ? inspectReply.parse(value).dependencies : [];
    },
  });
  return { fetch, seen, builds, dir };
}

test("a build has a directory of its own, which is removed", async () => {
  const { fetch, seen, builds, dir } = await fetcher();
  const cache = new ChartCache({ fetch }, { dir: join(dir, "charts") });

  const [first, second] = await Promise.all([cache.fetch(pin, access), cache.fetch(pin, access)]);

  expect(second.path).toBe(first.path);
  expect(seen).toEqual(["check out, beside build"]);
  expect(await readdir(builds)).toEqual([]);
});

test("a chart that an earlier process made is not made again", async () => {
  const { fetch, seen, dir } = await fetcher();
  const first = await new ChartCache({ fetch }, { dir }).fetch(pin, access);

  const again = new ChartCache({ fetch }, { dir });
  expect((await again.fetch(pin, access)).digest).toBe(first.digest);
  expect(seen).toHaveLength(1);

  await again.fetch({ ...pin, commit: "1".repeat(40) }, access);
  expect(seen).toHaveLength(2);
});

test("a failed build leaves nothing, and its dependencies get their own credentials only", async () => {
  const text = chartYaml(
    "dependencies:\n- {name: a, version: 1.x, repository: 'https://charts.example.com/x'}\n- {name: b, version: 2.x, repository: 'oci://charts.example.com/y'}\n",
  );
  const { fetch, seen, builds, dir } = await fetcher({ text });
  const cache = new ChartCache({ fetch }, { dir: join(dir, "charts") });

  await expect(cache.fetch(pin, access)).rejects.toMatchObject({
    ...{ code: "CHART_DEPENDENCY", message: 'dependency "a": not found' },
  });

  expect(seen.slice(1)).toEqual([
    'resolve {"kind":"http","repository":"https://charts.example.com/x","chart":"a"} 1.x with of the charts',
    'resolve {"kind":"oci","repository":"oci://charts.example.com/y/b"} 2.x with undefined',
  ]);
  expect(await readdir(builds)).toEqual([]);
});

test("a dependency of a repository that no Policy has judged is not fetched, whatever a lock says", async () => {
  const text = chartYaml(
    "dependencies:\n- {name: a, version: 1.x, repository: 'https://charts.example.com/y'}\n",
  );
  const { fetch, seen } = await fetcher({ text });
  const request = { timeoutMs: 10_000, maxBytes: 10_000 };
  const judged = { ...access, dependencyRepositories: ["https://charts.example.com/x"] };

  await expect(
    fetch(pin, () => Promise.resolve(), { ...request, access: judged }),
  ).rejects.toMatchObject({
    code: "CHART_DEPENDENCY",
    message: expect.stringMatching(
      /^dependency "a": its repository https:\/\/charts\.example\.com\/y is not one of those in Chart\.yaml/,
    ) as string,
  });
  expect(seen).toHaveLength(1);

  const other = { ...access, dependencyRepositories: ["https://charts.example.com/y/"] };
  await expect(
    fetch(pin, () => Promise.resolve(), { ...request, access: other }),
  ).rejects.toMatchObject({ message: 'dependency "a": not found' });
});

test("a build that takes too long fails", async () => {
  const { fetch, builds } = await fetcher({ isSlow: true });
  const request = { access, timeoutMs: 1, maxBytes: 10_000 };
  const fetched = fetch(pin, () => Promise.resolve(), request);

  await expect(fetched).rejects.toThrow(/it took more than 0.001 s/);
  expect(await readdir(builds)).toEqual([]);
});

test("a chart of a bucket is made from its objects", async () => {
  const { fetch, seen } = await fetcher();
  const request = { access, timeoutMs: 10_000, maxBytes: 10_000 };
  const { sizeBytes } = await fetch(bucket, () => Promise.resolve(), request);
  expect(seen).toEqual(["check out shop"]);
  expect(sizeBytes).toBeGreaterThan(0);
});
