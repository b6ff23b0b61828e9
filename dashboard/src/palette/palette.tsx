/** The command palette and the shortcuts of the keyboard. */
import { Command } from "cmdk";
import { useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { pageOf, sections } from "../address/index.ts";
import { StateIcon } from "../badge/index.ts";
import { clusterKey, objectKey, useFleet } from "../fleet/index.ts";
import { lookOf } from "../state/index.ts";
import { matchesText } from "../text/index.ts";
import { shortcutFor, shortcutTexts } from "./shortcuts.ts";
import "./palette.css";

type Opened = "palette" | "help" | undefined;

/** Between the keys of a sequence. */
const sequenceMs = 1_000;
/** More are found by typing. */
const shownOfKind = 50;

export function Palette() {
  const [, go] = useLocation();
  const [opened, setOpened] = useState<Opened>();
  const last = useRef({ key: "", at: 0 });

  useEffect(() => {
    function press(event: KeyboardEvent): void {
      const { key, target, timeStamp } = event;
      const { key: lastKey, at } = last.current;
      last.current = { key, at: timeStamp };
      const isTyping =
        target instanceof HTMLElement &&
        target.matches("input, select, textarea, [contenteditable]");
      const shortcut = shortcutFor({
        ...{ key, isTyping, hasCommand: event.ctrlKey || event.metaKey },
        before: timeStamp - at < sequenceMs ? lastKey : "",
      });
      if (shortcut === undefined) return;
      event.preventDefault();
      switch (shortcut.kind) {
        case "go":
          go(shortcut.href);
          break;
        case "filter":
          document.querySelector<HTMLInputElement>('main input[type="search"]')?.focus();
          break;
        case "move":
          moveFocus(shortcut.by);
          break;
        case "palette":
        case "help":
          setOpened(shortcut.kind);
      }
    }
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [go]);

  const close = () => setOpened(undefined);
  return (
    <>
      <button type="button" className="button palette-open" onClick={() => setOpened("palette")}>
        Find <kbd>Ctrl K</kbd>
      </button>
      {opened !== undefined && (
        <Dialog close={close}>
          {opened === "help" ? (
            <Help />
          ) : (
            <Find
              open={(href) => {
                close();
                go(href);
              }}
            />
          )}
        </Dialog>
      )}
    </>
  );
}

/** Rows of tables that are near the visible ones exist, too, so the next one can always be focused. */
function moveFocus(by: 1 | -1): void {
  const entries = [...document.querySelectorAll<Element>("main [role=row] a, main .concern a")];
  const at = document.activeElement === null ? -1 : entries.indexOf(document.activeElement);
  const next = entries[at < 0 ? 0 : at + by];
  if (next instanceof HTMLElement) next.focus();
}

function Dialog({
  close,
  children,
}: {
  readonly close: () => void;
  readonly children: React.ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    // The dialog would give the focus to the element around the field.
    dialog.current?.querySelector("input")?.focus();
  }, []);
  return (
    <dialog ref={dialog} className="palette" aria-label="Find" onClose={close}>
      {children}
    </dialog>
  );
}

function Help() {
  return (
    <div className="palette-help">
      <h2>Shortcuts</h2>
      <dl>
        {shortcutTexts.map(([keys, text]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function Find({ open }: { readonly open: (href: string) => void }) {
  const { apps, clusters, sources } = useFleet();
  const [text, setText] = useState("");
  // Filtered here: a fleet has thousands of clusters, and the palette would make an element for each.
  const matching = <T extends { readonly namespace: string; readonly name: string }>(
    all: Iterable<T>,
  ) =>
    [...all]
      .filter(({ namespace, name }) => matchesText([`${namespace}/${name}`], text))
      .slice(0, shownOfKind);
  return (
    <Command label="Find a page, an app, a cluster or a source" shouldFilter={false}>
      <Command.Input
        value={text}
        onValueChange={setText}
        placeholder="Find a page, an app, a cluster or a source"
      />
      <Command.List>
        <Command.Empty>Nothing matches.</Command.Empty>
        <Command.Group heading="Apps">
          {matching(apps.values()).map((app) => (
            <Command.Item
              key={objectKey(app)}
              value={objectKey(app)}
              onSelect={() => open(pageOf(app))}
            >
              <StateIcon tone={lookOf(app.state).tone} /> {app.name}{" "}
              <span className="soft">
                {app.kind} in {app.namespace}
              </span>
            </Command.Item>
          ))}
        </Command.Group>
        <Command.Group heading="Clusters">
          {matching(clusters.values()).map((cluster) => (
            <Command.Item
              key={clusterKey(cluster)}
              value={`Cluster/${clusterKey(cluster)}`}
              onSelect={() => open(`/clusters/${clusterKey(cluster)}`)}
            >
              <StateIcon tone={lookOf(cluster.state).tone} /> {cluster.name}{" "}
              <span className="soft">Cluster in {cluster.namespace}</span>
            </Command.Item>
          ))}
        </Command.Group>
        <Command.Group heading="Sources">
          {matching(sources.values()).map((source) => (
            <Command.Item
              key={objectKey(source)}
              value={objectKey(source)}
              onSelect={() => open(pageOf(source))}
            >
              <StateIcon tone={lookOf(source.state).tone} /> {source.name}{" "}
              <span className="soft">
                {source.kind} in {source.namespace}
              </span>
            </Command.Item>
          ))}
        </Command.Group>
        <Command.Group heading="Pages">
          {sections
            .filter(({ name }) => matchesText([name], text))
            .map(({ name, href }) => (
              <Command.Item key={href} value={`page ${name}`} onSelect={() => open(href)}>
                {name}
              </Command.Item>
            ))}
        </Command.Group>
      </Command.List>
    </Command>
  );
}
