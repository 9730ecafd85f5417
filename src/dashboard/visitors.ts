import type { Actor } from '../control/actor.ts';
import type { Exchange } from '../http/exchange.ts';

/** Those who use the dashboard, as its routes see them. */
export interface Visitors {
  /** Who asks, by the session's cookie; null for nobody who is signed in. Counts as use of the session. */
  actorOf(exchange: Exchange): Promise<Actor | null>;
  /** Answers `GET /api/session`. */
  show(exchange: Exchange): Promise<void>;
  /** Answers `POST /api/session/<name>`. The caller has checked host, origin and content type. */
  answer(exchange: Exchange, name: string): Promise<void>;
  /** Is told of sessions that end, so that what they hold open can be closed, until the returned function is called. */
  onEnded(listener: (sessionId: string) => void): () => void;
}
