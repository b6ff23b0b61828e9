/** Who is logged in, the theme, and the logout. */
import { useState } from "react";
import { messageOf } from "../api/index.ts";
import { useLogout, useSession } from "../session/index.ts";
import { chooseTheme, readTheme, type Theme } from "./theme.ts";

export function UserMenu() {
  const { user } = useSession();
  const logout = useLogout();
  const [problem, setProblem] = useState("");
  const [theme, setTheme] = useState<Theme>(readTheme);
  const other = theme === "dark" ? "light" : "dark";
  return (
    <div className="user-menu">
      <span className="user-name" title={user}>
        {user.replace(/^system:serviceaccount:/, "")}
      </span>
      <button
        type="button"
        className="button"
        onClick={() => {
          chooseTheme(other);
          setTheme(other);
        }}
      >
        {other === "dark" ? "Dark" : "Light"}
      </button>
      <button
        type="button"
        className="button"
        onClick={() => void logout().catch((thrown: unknown) => setProblem(messageOf(thrown)))}
      >
        Log out
      </button>
      {problem !== "" && <span role="alert">{problem}</span>}
    </div>
  );
}
