import type { Reply } from '../domain/outcome.ts';

/** An access token, or why there is none. */
export type TokenResult =
  | { readonly ok: true; readonly token: string }
  | {
      readonly ok: false;
      readonly reply: Reply;
      /** How long the token endpoint asks to be left alone, in ms; null: it does not. */
      readonly restMs: number | null;
    };

/** Who has the access tokens of one relay. */
export interface TokenDesk {
  /**
   * The token that is good now. Where it has to be asked for, one request serves all who wait, and `tell` is told of it,
   * in words without secrets. Never throws for what the endpoint does; ends soon after `signal`.
   */
  get(signal: AbortSignal, tell?: (text: string) => void): Promise<TokenResult>;
  /** The token was refused: whoever needs one asks anew. */
  drop(token: string): void;
  /** Closes its connections. */
  close(): Promise<void>;
}
