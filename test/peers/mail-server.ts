/** A mail server made by others, running as a process of its own: the next hop of end-to-end tests. */
export interface MailServer {
  readonly port: number;
  /** The message it stored for a recipient, byte by byte; waits for it. */
  mailFor(recipient: string): Promise<Buffer>;
  /** Stops it in its tracks: connections are still made, but nobody answers. */
  freeze(): void;
  /** Lets it go on. */
  thaw(): void;
  /** Ends it and throws its files away. */
  stop(): Promise<void>;
}
