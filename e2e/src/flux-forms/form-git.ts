/** The Git repositories that the documents name, over HTTPS with a login and over SSH, and one that is signed. */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestScope, testDir } from "@flotilla/local/testing";
import {
  createRepository,
  type GitHttpServer,
  requireProgram,
  runProgram,
  type SshServer,
  startGitHttpServer,
  startSshServer,
} from "@flotilla/shared/source/git/testing";
import type { TestCertificate } from "@flotilla/shared/source/testing";
import { chartFiles } from "./form-charts.ts";

export interface FormGit {
  readonly https: GitHttpServer;
  readonly ssh: SshServer;
  readonly login: { readonly username: string; readonly password: string };
  /** The first commit of `harbour/apps`, which has the tag. */
  readonly firstCommit: string;
  /** The last one of its branch main. */
  readonly lastCommit: string;
  /** The commit of `refs/changes/7/head`. */
  readonly changeCommit: string;
  /** The commit of the newest tag of `harbour/releases`. */
  readonly releaseCommit: string;
  /** Who signs `harbour/releases`, as ssh-keygen writes it. */
  readonly authorKey: string;
}

const login = { username: "deckhand", password: "of-the-repository" };

export async function startFormGit(
  scope: TestScope,
  certificate: TestCertificate,
): Promise<FormGit> {
  const root = await testDir(scope);
  const dir = join(root, ".keys");
  await mkdir(dir);
  const authorization = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}`;
  const https = await startGitHttpServer(root, { authorization, certificate });
  const ssh = await startSshServer(join(dir, "ssh"), root);
  scope.onTestFinished(async () => {
    await https[Symbol.asyncDispose]();
    await ssh[Symbol.asyncDispose]();
  });

  const apps = await createRepository(root, "harbour/apps");
  const firstCommit = await apps.commit({
    ...chartFiles("charts/crane", "1.4.0", "colour: blue\nheight: 80\n"),
    "charts/crane/values-production.yaml": "colour: red\n",
    "charts/common/values.yaml": "harbour: east\n",
    "notes/plan.md": "not for the charts\n",
  });
  await apps.git("tag", "crane-1.4.0");
  const lastCommit = await apps.commit({ "notes/plan.md": "changed\n" });
  const changeCommit = await apps.commit({ "notes/plan.md": "proposed\n" }, { branch: "change" });
  await apps.git("push", "--quiet", "origin", "HEAD:refs/changes/7/head", "--tags");

  const key = join(dir, "author");
  const keygen = requireProgram("ssh-keygen", "openssh-client");
  await runProgram(keygen, ["-q", "-t", "ed25519", "-N", "", "-f", key]);
  const releases = await createRepository(root, "harbour/releases.git");
  await releases.git("config", "gpg.format", "ssh");
  let releaseCommit = "";
  for (const version of ["1.2.0", "1.10.0"]) {
    releaseCommit = await releases.commit(
      { ...chartFiles("charts/dock", version, "places: 4\n"), "docs/readme.md": version },
      { args: [`--gpg-sign=${key}`] },
    );
    await releases.git("tag", "-u", key, "-m", version, version);
  }
  await releases.git("push", "--quiet", "origin", "--tags");
  const authorKey = await readFile(`${key}.pub`, "utf8");
  return { https, ssh, login, firstCommit, lastCommit, changeCommit, releaseCommit, authorKey };
}
