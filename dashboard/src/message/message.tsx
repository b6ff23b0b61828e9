/** A message of any length: its beginning with a mark where it is cut, and all of it on request. */
import { useState } from "react";
import { cutMessage } from "./cut-message.ts";
import "./message.css";

export function Message({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const { shown, hidden } = cutMessage(text);
  if (hidden === 0) return <span className="message">{text}</span>;
  return (
    <span className="message">
      {isWhole ? text : `${shown} …`}{" "}
      <button
        type="button"
        className="message-more"
        aria-expanded={isWhole}
        onClick={() => setWhole(!isWhole)}
      >
        {isWhole ? "Show less" : `Show ${hidden.toLocaleString("en")} more characters`}
      </button>
    </span>
  );
}
