export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
      <path fill="currentColor" d="M15 3v17H5zM17 7l10 13H17zM3 22h26l-4 7H7z" />
    </svg>
  );
}
