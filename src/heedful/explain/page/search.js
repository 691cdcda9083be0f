/** Greedy and beam search (section 6.1) over anything that scores the next piece.
 *
 * It finds what decoding/search.py finds, and tells of each step what became of its candidates.
 */

import { BOS, EOS } from "./specials.js";

const PATIENCE = 1.5; // beams' worth of hypotheses to wait for, as a good one may end after bad ones
const EXTRA_LENGTH = 50; // section 6.1: output is at most this much longer than the input

/** @typedef {{ beamSize: number, alpha: number }} SearchConfig a beam of 1 is greedy search */

/**
 * What a step remembers: a row for each hypothesis.
 * @template S
 * @typedef {(last: number[], state: S) => { logProbabilities: Float32Array[], state: S }} Step
 *   last id of every row and state in; log-probabilities of all next pieces of each row and state out
 */

/**
 * A place in the tree of hypotheses: one piece after those of its parent.
 * @typedef {object} Node
 * @property {number} id counted from 0, in the order in which nodes were made
 * @property {Node | null} parent null for the root, which is BOS
 * @property {number} piece
 * @property {number} length pieces from the root to here, BOS aside
 * @property {number} logProbability of this piece after its parent; 0 if it was forced
 * @property {number} total log-probability of all pieces down to here
 * @property {number} rank among the candidates of its step, 0 is the likeliest
 * @property {Fate} fate what became of it in its step
 */

/**
 * "kept": goes on. "finished": ended in EOS. "cut": at the length limit.
 * "outranked": a beam's worth of likelier candidates went on.
 * "ended too low": ended in EOS, but not among the best `beamSize` of its step.
 * @typedef {"kept" | "finished" | "cut" | "outranked" | "ended too low"} Fate
 */

/**
 * What a step did.
 * @typedef {object} SearchStep
 * @property {number} length pieces written after it
 * @property {Node[]} candidates the likeliest first, at most twice the beam
 * @property {Node[]} kept those that go on, the likeliest first
 * @property {Hypothesis[]} found all that have stopped so far, in the order in which they did
 * @property {string} end why the search ended here, or "": "enough" hypotheses ended, one of them
 *   the likeliest of its step, or "limit"
 */

/**
 * A translation as ids, without BOS and EOS.
 * @typedef {object} Hypothesis
 * @property {number[]} pieces
 * @property {number} logProbability what was forced counts as certain
 * @property {boolean} isFinished whether it ended in EOS, rather than at the length limit
 * @property {Node} node its last
 */

/**
 * ((5 + n) / 6)^α, of Wu et al. (2016).
 * @param {number} length
 * @param {number} alpha
 */
export function lengthPenalty(length, alpha) {
  return ((5 + length) / 6) ** alpha;
}

/**
 * Log-probability over the length penalty, EOS counted in n.
 * @param {Hypothesis} hypothesis
 * @param {number} alpha
 */
export function scoreOf({ logProbability, pieces, isFinished }, alpha) {
  return logProbability / lengthPenalty(pieces.length + Number(isFinished), alpha);
}

/**
 * How many pieces may be written for a source, after those that were forced.
 * @param {number} numSource
 * @param {number} [numForced]
 */
export function lengthLimit(numSource, numForced = 0) {
  return Math.max(numSource, numForced) + EXTRA_LENGTH;
}

/**
 * Hypotheses that must have ended before the search does, the likeliest among them.
 * @param {number} beamSize
 */
export function numEnded(beamSize) {
  return beamSize === 1 ? 1 : Math.ceil(PATIENCE * beamSize);
}

/**
 * The hypotheses that score best, the best first. Another alpha only ranks them anew.
 * @param {Hypothesis[]} found
 * @param {SearchConfig} config
 */
export function bestFirst(found, { beamSize, alpha }) {
  const likeliest = [...found].sort((a, b) => b.logProbability - a.logProbability);
  const waitedFor = likeliest.slice(0, numEnded(beamSize));
  return waitedFor.sort((a, b) => scoreOf(b, alpha) - scoreOf(a, alpha)).slice(0, beamSize);
}

/**
 * Search to the end and return up to `beamSize` hypotheses, the best first.
 * @template S
 * @param {Step<S>} step
 * @param {Selectable<S>} start
 * @param {number} limit
 * @param {SearchConfig} config
 * @param {readonly number[]} [prefix]
 */
export function search(step, start, limit, config, prefix = []) {
  /** @type {Hypothesis[]} */
  let found = [];
  for (const each of searchSteps(step, start, limit, config, prefix)) found = each.found;
  return bestFirst(found, config);
}

/**
 * @template S
 * @typedef {object} Selectable
 * @property {S} state of one row
 * @property {(state: S, rows: number[]) => S} select keeps the given rows, in the given order
 */

/**
 * Search step by step. It ends when one and a half beams' worth of hypotheses have ended, one of
 * them as the likeliest of its step (docs/decisions/0003), or at the length limit.
 * @template S
 * @param {Step<S>} step
 * @param {Selectable<S>} start
 * @param {number} limit the most pieces that may be written
 * @param {SearchConfig} config
 * @param {readonly number[]} [prefix] what every hypothesis begins with
 * @returns {Generator<SearchStep>}
 */
export function* searchSteps(step, { state, select }, limit, { beamSize }, prefix = []) {
  let beam = [root()];
  /** @type {Hypothesis[]} */
  const found = [];
  let [numNodes, likeliestEnded] = [1, false];
  for (let length = 1; beam.length; length++) {
    const stepped = step(beam.map((node) => node.piece), state);
    const forced = prefix[length - 1];
    const candidates = likeliest(stepped.logProbabilities, beam, 2 * beamSize, forced);
    const isLast = length >= limit;
    let numKept = 0;
    candidates.forEach((node, rank) => {
      node.id = numNodes++;
      node.rank = rank;
      node.fate = fateOf(node, rank < beamSize, numKept < beamSize, isLast);
      if (node.fate === "kept") numKept++;
      if (node.fate === "finished" || node.fate === "cut") found.push(hypothesis(node));
    });
    likeliestEnded ||= candidates[0]?.piece === EOS;
    const hasEnough = likeliestEnded && found.length >= numEnded(beamSize);
    const kept = candidates.filter((node) => node.fate === "kept");
    const end = isLast ? "limit" : hasEnough ? "enough" : "";
    yield { length, candidates, kept, found: [...found], end };
    state = select(stepped.state, kept.map((node) => beam.indexOf(/** @type {Node} */ (node.parent))));
    beam = end ? [] : kept;
  }
}

/** @returns {Node} */
function root() {
  return { id: 0, parent: null, piece: BOS, length: 0, logProbability: 0, total: 0, rank: 0, fate: "kept" };
}

/**
 * @param {Node} node
 * @param {boolean} isHigh
 * @param {boolean} hasRoom
 * @param {boolean} isLast
 * @returns {Fate}
 */
function fateOf(node, isHigh, hasRoom, isLast) {
  if (node.piece === EOS) return isHigh ? "finished" : "ended too low";
  if (isLast) return isHigh ? "cut" : "outranked";
  return hasRoom ? "kept" : "outranked";
}

/** @param {Node} node @returns {Hypothesis} */
function hypothesis(node) {
  const pieces = [];
  for (let at = /** @type {Node | null} */ (node); at?.parent; at = at.parent) pieces.push(at.piece);
  pieces.reverse();
  const isFinished = node.piece === EOS;
  if (isFinished) pieces.pop();
  return { pieces, logProbability: node.total, isFinished, node };
}

/**
 * The likeliest ways to go on with any hypothesis of a beam.
 * @param {Float32Array[]} logProbabilities
 * @param {Node[]} beam
 * @param {number} count
 * @param {number | undefined} forced
 */
function likeliest(logProbabilities, beam, count, forced) {
  const candidates = beam.flatMap((parent, row) => {
    const likely = logProbabilities[row];
    const pieces = forced === undefined ? best(likely, count) : [forced];
    return pieces.map((piece) => grown(parent, piece, forced === undefined ? likely[piece] : 0));
  });
  return candidates
    .filter((node) => node.total > -Infinity)
    .sort((a, b) => b.total - a.total)
    .slice(0, count);
}

/**
 * @param {Node} parent
 * @param {number} piece
 * @param {number} logProbability
 * @returns {Node}
 */
function grown(parent, piece, logProbability) {
  const total = Math.fround(parent.total + logProbability); // as float32 adds up
  return { id: 0, parent, piece, length: parent.length + 1, logProbability, total, rank: 0, fate: "outranked" };
}

/**
 * The places of the largest values, the largest first.
 * @param {ArrayLike<number>} values
 * @param {number} count
 * @returns {number[]}
 */
export function best(values, count) {
  /** @type {number[]} */
  const places = [];
  for (let i = 0; i < values.length; i++) {
    if (places.length === count && !(values[i] > values[places[count - 1]])) continue;
    let at = Math.min(places.length, count - 1);
    for (; at > 0 && values[i] > values[places[at - 1]]; at--) places[at] = places[at - 1];
    places[at] = i;
  }
  return places;
}
