/** What the palette finds in the fleet. Pure. */
import type { AppRef } from "@flotilla/shared/dashboard";
import { pageOf, releasePage, sections } from "../address/index.ts";
import { lookOf, type Tone } from "../state/index.ts";
import { matchesText } from "../text/index.ts";
import { clusterKey, type FleetState, objectKey, releaseStateAt } from "./fleet-state.ts";
import { labelTexts } from "./labels.ts";
import type { ShownStates } from "./shown-states.ts";
import { countStates } from "./summary.ts";

export interface Found {
  /** The page that it opens. Unique. */
  readonly href: string;
  readonly text: string;
  /** Beside the text. */
  readonly detail?: string;
  readonly tone?: Tone;
}

export interface FoundGroup {
  readonly heading: string;
  readonly found: readonly Found[];
}

/** The limit of each group; more are found by typing: a fleet has thousands of clusters. */
const maxFound = 50;

/** Groups without anything are left out. `text`: words, all of which occur; "": what has a page of its own. */
export function find(fleet: FleetState, states: ShownStates, text: string): readonly FoundGroup[] {
  const { apps, clusters, sources } = fleet;
  const groups: readonly FoundGroup[] = [
    {
      heading: "Apps",
      found: matching(apps.values(), text).map((app) => ({
        href: pageOf(app),
        text: app.name,
        detail: `${app.kind} in ${app.namespace}`,
        tone: lookOf(states.ofApp(app)).tone,
      })),
    },
    {
      heading: "Clusters",
      found: matching(clusters.values(), text).map((cluster) => ({
        href: `/clusters/${clusterKey(cluster)}`,
        text: cluster.name,
        detail: `Cluster in ${cluster.namespace}`,
        tone: lookOf(states.ofCluster(cluster)).tone,
      })),
    },
    { heading: "Releases", found: releases(fleet, states, text) },
    {
      heading: "Sources",
      found: matching(sources.values(), text).map((source) => ({
        href: pageOf(source),
        text: source.name,
        detail: `${source.kind} in ${source.namespace}`,
        tone: lookOf(source.state).tone,
      })),
    },
    { heading: "Lists", found: text.trim() === "" ? [] : lists(fleet, states, text) },
    {
      heading: "Pages",
      found: sections
        .filter(({ name }) => matchesText([name], text))
        .map(({ name, href }) => ({ href, text: name })),
    },
  ];
  return groups.filter(({ found }) => found.length > 0);
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

function matching<T extends Named>(all: Iterable<T>, text: string): readonly T[] {
  return [...all].filter((each) => matchesText([clusterKey(each)], text)).slice(0, maxFound);
}

/** By a word or more of the app, and one or more of the cluster: `web paris`. */
function releases(fleet: FleetState, states: ShownStates, text: string): readonly Found[] {
  const words = text.split(/\s+/).filter((word) => word !== "");
  if (words.length < 2) return [];
  const found: Found[] = [];
  for (const app of fleet.apps.values()) {
    const ofCluster = words.filter((word) => !matchesText([app.name], word));
    // Each word is one of the app: the last one is the cluster's, as in `web web-1`.
    const wanted = ofCluster.length === 0 ? words.slice(-1) : ofCluster;
    if (wanted.length === words.length) continue;
    const row = fleet.rows.get(objectKey(app));
    for (const [column, cluster] of fleet.columns.entries()) {
      const state = releaseStateAt(row, column);
      if (state === undefined || !matchesText([cluster], wanted.join(" "))) continue;
      found.push({
        href: releasePage(cluster, app),
        text: `${app.name} on ${nameOf(cluster)}`,
        detail: `release of ${app.kind} ${app.namespace}/${app.name}`,
        tone: lookOf(states.ofRelease(refOf(app), state)).tone,
      });
      if (found.length === maxFound) return found;
    }
  }
  return found;
}

function refOf({ kind, namespace, name }: AppRef): AppRef {
  return { kind, namespace, name };
}

function nameOf(cluster: string): string {
  return cluster.slice(cluster.indexOf("/") + 1);
}

/** The lists of what is in a state, or has a label, that the text names. */
function lists(fleet: FleetState, states: ShownStates, text: string): readonly Found[] {
  const apps = [...fleet.apps.values()];
  const clusters = [...fleet.clusters.values()];
  return [
    ...inStates("Apps", "/apps", apps.map(states.ofApp), text),
    ...inStates("Clusters", "/clusters", clusters.map(states.ofCluster), text),
    ...inStates(
      "Sources",
      "/sources",
      [...fleet.sources.values()].map(({ state }) => state),
      text,
    ),
    ...withLabels("Apps", "/apps", apps, text),
    ...withLabels("Clusters", "/clusters", clusters, text),
  ].slice(0, maxFound);
}

type State = Parameters<typeof lookOf>[0];

function inStates(name: string, href: string, all: readonly State[], text: string): Found[] {
  return countStates(all.map((state) => ({ state })))
    .map(({ state, count }) => ({ state, count, ...lookOf(state) }))
    .filter(({ word }) => matchesText([`${name}: ${word}`], text))
    .map(({ state, count, word, tone }) => ({
      href: `${href}?state=${state}`,
      text: `${name}: ${word}`,
      tone,
      detail: count.toLocaleString("en"),
    }));
}

interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

function withLabels(name: string, href: string, all: readonly Labelled[], text: string): Found[] {
  const counts = new Map<string, number>();
  for (const label of all.flatMap(({ labels }) => labelTexts(labels)))
    counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts]
    .filter(([label]) => matchesText([`${name}: ${label}`], text))
    .map(([label, count]) => ({
      href: `${href}?${new URLSearchParams({ labels: label }).toString()}`,
      text: `${name}: ${label}`,
      detail: count.toLocaleString("en"),
    }));
}
