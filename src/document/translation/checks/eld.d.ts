declare module 'eld/extrasmall' {
  import type { Eld } from 'eld';
  export const eld: Eld;
}
