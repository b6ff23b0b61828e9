/** Who is logged in, with the whole name, the theme, the version of the hub, and the logout. */
import { useState } from "react";
import { messageOf } from "../api/index.ts";
import { useLogout, useSession } from "../session/index.ts";
import { chooseTheme, readTheme, type Theme } from "./theme.ts";

const panelId = "user-panel";

export function UserMenu() {
  const { user, hub } = useSession();
  const logout = useLogout();
  const [problem, setProblem] = useState("");
  const [theme, setTheme] = useState<Theme>(readTheme);
  const other = theme === "dark" ? "light" : "dark";
  return (
    <div className="user-menu">
      <button type="button" className="button" popoverTarget={panelId}>
        <span aria-hidden="true">☰</span>
        <span className="visually-hidden">User menu </span>
        <span className="user-name">{user.replace(/^system:serviceaccount:/, "")}</span>
      </button>
      <div id={panelId} popover="auto" className="user-panel">
        <p>
          Logged in as <strong>{user}</strong>
        </p>
        <p>
          <span className="soft">Hub {hub.version}</span>,{" "}
          <a href="/api/v1/openapi.json">its API</a>
        </p>
        <div className="choices">
          <button
            type="button"
            className="button"
            onClick={() => {
              chooseTheme(other);
              setTheme(other);
            }}
          >
            {other === "dark" ? "Dark theme" : "Light theme"}
          </button>
          <button
            type="button"
            className="button"
            onClick={() => void logout().catch((thrown: unknown) => setProblem(messageOf(thrown)))}
          >
            Log out
          </button>
        </div>
        {problem !== "" && <p role="alert">{problem}</p>}
      </div>
    </div>
  );
}
