/** A mail server made by others that sends all it takes on to one port, over TLS that it verifies. */
export interface Upstream {
  /** Port of 127.0.0.1 where it takes mail for anybody. */
  readonly port: number;
  /** Tries to send on, now, all that it holds. Resolves once the attempt was asked for or is over. */
  flush(): Promise<void>;
  /** What it has logged so far. */
  log(): string;
  /** Ends it and throws its files away. */
  stop(): Promise<void>;
}

/** Where it sends to, and as whom. */
export interface UpstreamOptions {
  /** Port of localhost. The certificate shown there must be for that name. */
  readonly nextHop: number;
  /** File with the only root that it trusts. */
  readonly ca: string;
  /** Password of AUTH PLAIN; null sends without. */
  readonly password: string | null;
}
