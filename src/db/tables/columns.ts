import type { ColumnType } from 'kysely';

/** Read as a Date; written as one, or as an ISO text. */
export type Timestamp = ColumnType<Date, Date | string, Date | string>;
export type NullableTimestamp = ColumnType<
  Date | null,
  Date | string | null | undefined,
  Date | string | null
>;
/** Filled by the database when omitted. */
export type CreatedAt = ColumnType<Date, Date | string | undefined, Date | string>;
export type Json<Value> = ColumnType<Value, string, string>;
export type NullableJson<Value> = ColumnType<Value | null, string | null | undefined, string | null>;
export type Default<Value> = ColumnType<Value, Value | undefined, Value>;
export type Nullable<Value> = ColumnType<Value | null, Value | null | undefined, Value | null>;
