/** A choice of yes or no about what is shown. */
export interface CheckFieldProps {
  readonly name: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

export function CheckField({ name, checked, onChange }: CheckFieldProps) {
  return (
    <label>
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
      />{" "}
      {name}
    </label>
  );
}
