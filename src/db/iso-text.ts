/** SQL of a time as responses have it: UTC with Z and milliseconds. Takes the column as named in the statement. */
export const isoText = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
