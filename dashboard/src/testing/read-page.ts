/** What a person reads of a component: its markup, rendered once, as words, links and buttons. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createElement, type ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { Router } from "wouter";
import { FleetProvider } from "../fleet/index.ts";
import { fleet, nowMs } from "../fleet/testing/index.ts";

export interface PageOptions {
  readonly fleet?: ReturnType<typeof fleet>;
  /** The query of the address, such as `harm=down`. */
  readonly query?: string;
  /** The answers of the API, by path. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface ReadPage {
  /** Its words, with one space between them. */
  readonly text: string;
  /** By their text: where links lead. */
  readonly links: Readonly<Record<string, string>>;
  /** The texts of its buttons, `[x]` where one is pressed. */
  readonly buttons: readonly string[];
}

export function readPage(
  page: ReactNode,
  { fleet: state = fleet([], []), query = "", details = {} }: PageOptions = {},
): ReadPage {
  const client = new QueryClient();
  client.setQueryData(["fleet"], { ...state, clockOffsetMs: nowMs - Date.now() });
  for (const [path, answer] of Object.entries(details))
    client.setQueryData(["detail", path], answer);
  const children = createElement(FleetProvider, null, page);
  const inRouter = createElement(Router, { ssrPath: "/", ssrSearch: query, children });
  const markup = renderToStaticMarkup(createElement(QueryClientProvider, { client }, inRouter));
  client.clear();
  const links = [...markup.matchAll(/<a [^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/g)];
  const buttons = [...markup.matchAll(/<button([^>]*)>(.*?)<\/button>/g)];
  return {
    text: wordsOf(markup),
    links: Object.fromEntries(links.map(([, href = "", inner = ""]) => [wordsOf(inner), href])),
    buttons: buttons.map(([, attributes = "", inner = ""]) =>
      attributes.includes('aria-pressed="true"') ? `[${wordsOf(inner)}]` : wordsOf(inner),
    ),
  };
}

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

function wordsOf(markup: string): string {
  return markup
    .replaceAll(/<\/?(?:li|p|div|dt|dd|h\d|ul|section|button)\b[^>]*>/g, " ")
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => entities[entity] ?? entity)
    .replaceAll(/\s+/g, " ")
    .trim();
}
