/** The command palette and the shortcuts of the keyboard. */
import { Command } from "cmdk";
import { useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { StateIcon } from "../badge/index.ts";
import { actionAddress, actionName, useShownActions } from "../detail/index.ts";
import { find, useFleet, useShownStates } from "../fleet/index.ts";
import { matchesText } from "../text/index.ts";
import { entryAfter, shortcutFor, shortcutTexts } from "./shortcuts.ts";
import "./palette.css";

type Opened = "palette" | "help" | undefined;

/** Between the keys of a sequence. */
const sequenceMs = 1_000;

export function Palette() {
  const [, go] = useLocation();
  const [opened, setOpened] = useState<Opened>();
  const last = useRef({ key: "", at: 0 });
  /** By the path of a page. */
  const lastEntries = useRef(new Map<string, string>());

  useEffect(() => {
    function press(event: KeyboardEvent): void {
      const { key, target, timeStamp } = event;
      const { key: lastKey, at } = last.current;
      last.current = { key, at: timeStamp };
      const isTyping =
        target instanceof HTMLElement &&
        target.matches("input, select, textarea, [contenteditable]");
      const shortcut = shortcutFor({
        key,
        isTyping,
        hasCommand: event.ctrlKey || event.metaKey,
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
          moveFocus(shortcut.by, lastEntries.current.get(location.pathname) ?? "");
          break;
        case "palette":
        case "help":
          setOpened(shortcut.kind);
      }
    }
    function focus({ target }: FocusEvent): void {
      if (!(target instanceof HTMLAnchorElement) || !target.matches(entrySelector)) return;
      const entries = lastEntries.current;
      entries.delete(location.pathname);
      entries.set(location.pathname, hrefOf(target));
      for (const path of [...entries.keys()].slice(0, -maxPages)) entries.delete(path);
    }
    addEventListener("keydown", press);
    addEventListener("focusin", focus);
    return () => {
      removeEventListener("keydown", press);
      removeEventListener("focusin", focus);
    };
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
function moveFocus(by: 1 | -1, last: string): void {
  const entries = [...document.querySelectorAll<HTMLElement>(entrySelector)];
  const focused = entries.findIndex((entry) => entry.matches(":focus"));
  const next = entryAfter(entries.map(hrefOf), { focused, last, by });
  if (next !== undefined) entries[next]?.focus();
}

/** The first link of each. */
const entrySelector = "main [role=row] a, main .concern-what a";

/** The limit of how many pages the last entry is kept. */
const maxPages = 50;

function hrefOf(entry: Element): string {
  return entry.getAttribute("href") ?? "";
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

interface FindProps {
  readonly open: (href: string) => void;
}

function Find({ open }: FindProps) {
  const fleet = useFleet();
  const states = useShownStates();
  const actions = useShownActions();
  const [text, setText] = useState("");
  // Filtered here: the palette would make an element for each cluster of a fleet.
  const groups = useMemo(() => find(fleet, states, text), [fleet, states, text]);
  const offered = actions.filter(({ action }) => matchesText([actionName(action)], text));
  return (
    <Command label={placeholder} shouldFilter={false}>
      <Command.Input value={text} onValueChange={setText} placeholder={placeholder} />
      <Command.List>
        <Command.Empty>Nothing matches.</Command.Empty>
        {groups.map(({ heading, found }) => (
          <Command.Group key={heading} heading={heading}>
            {found.map(({ href, text: name, detail, tone }) => (
              <Command.Item key={href} value={href} onSelect={() => open(href)}>
                {tone !== undefined && <StateIcon tone={tone} />} {name}{" "}
                {detail !== undefined && <span className="soft">{detail}</span>}
              </Command.Item>
            ))}
          </Command.Group>
        ))}
        {offered.length > 0 && (
          <Command.Group heading="Actions of this page">
            {offered.map(({ action }) => (
              <Command.Item
                key={action}
                value={`action ${action}`}
                onSelect={() => open(actionAddress(action))}
              >
                {actionName(action)}
              </Command.Item>
            ))}
          </Command.Group>
        )}
      </Command.List>
    </Command>
  );
}

const placeholder = "Find an app, a cluster, a release, a state, a label or an action";
