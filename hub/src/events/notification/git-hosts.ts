/** github, gitlab and gitea: the status of the commit that an event is about. */
import {
  type CommitStatus,
  commitStatus,
  repositoryPath,
  type StatusHost,
} from "./commit-status.ts";
import { post } from "./provider-contract.ts";

const githubHost: StatusHost = {
  takesProgress: false,
  requests(status, { address, token, password }) {
    const base =
      address.hostname === "github.com" ? "https://api.github.com/" : apiOf(address, "api/v3/");
    const headers = {
      authorization: `Bearer ${token || password}`,
      accept: "application/vnd.github+json",
    };
    return requestsAsGithub(status, address, { base, headers, stateKey: "state" });
  },
};

const gitlabHost: StatusHost = {
  takesProgress: false,
  requests(status, { address, token, password }) {
    const path = repositoryPath(address);
    if (path === undefined) return undefined;
    const headers = { "private-token": token || password };
    const base = apiOf(address, "api/v4/");
    const project = `projects/${encodeURIComponent(path.join("/"))}`;
    const { sha, id, description } = status;
    const state = status.state === "failure" ? "failed" : status.state;
    return {
      list: get(new URL(`${project}/repository/commits/${sha}/statuses`, base), headers),
      set: post(
        new URL(`${project}/statuses/${sha}`, base),
        { state, name: id, description },
        headers,
      ),
      isSame: latestIs(status, "name", "status", state),
    };
  },
};

const giteaHost: StatusHost = {
  takesProgress: true,
  requests(status, { address, token, password }) {
    const headers = { authorization: `token ${token || password}` };
    const base = apiOf(address, "api/v1/");
    return requestsAsGithub(status, address, { base, headers, stateKey: "status" });
  },
};

export const github = commitStatus(githubHost);
export const gitlab = commitStatus(gitlabHost);
export const gitea = commitStatus(giteaHost);

/** Requests as GitHub has them, about a repository `OWNER/NAME`. `stateKey`: the name of the state in a list of statuses. */
function requestsAsGithub(
  status: CommitStatus,
  address: URL,
  api: {
    readonly base: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly stateKey: string;
  },
): ReturnType<StatusHost["requests"]> {
  const path = repositoryPath(address);
  if (path?.length !== 2) return undefined;
  const { base, headers, stateKey } = api;
  const repository = `repos/${path.map(encodeURIComponent).join("/")}`;
  const { sha, id, description, state } = status;
  return {
    list: get(new URL(`${repository}/commits/${sha}/statuses`, base), headers),
    set: post(
      new URL(`${repository}/statuses/${sha}`, base),
      { state, context: id, description },
      headers,
    ),
    isSame: latestIs(status, "context", stateKey, state),
  };
}

function apiOf({ origin }: URL, path: string): string {
  return `${origin}/${path}`;
}

function get(url: URL, headers: Readonly<Record<string, string>>) {
  return { method: "GET", url, headers } as const;
}

/** Whether the newest status of this name, which hosts list first, is the one to set. */
function latestIs(
  { id, description }: CommitStatus,
  nameKey: string,
  stateKey: string,
  state: string,
): (statuses: readonly Readonly<Record<string, unknown>>[]) => boolean {
  return (statuses) => {
    const latest = statuses.find((each) => each[nameKey] === id);
    return latest?.[stateKey] === state && latest["description"] === description;
  };
}
