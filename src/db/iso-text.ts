/** SQL for a time as responses have it: UTC with Z and milliseconds. Of a column, by its name in the source. */
export const isoText = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
