/** The page's side of the worker: questions out, promises of answers back. */

/** @typedef {import("./worker.js").Tasks} Tasks */
/** @typedef {import("./translator.js").PageData} PageData */

/**
 * @template {keyof Tasks} Task
 * @typedef {object} Manner how a question is asked; all of it may be left out
 * @property {AbortSignal} [signal] gives the question up; the promise rejects with its reason
 * @property {(soFar: ReturnType<Tasks[Task]>) => void} [tell] is told what there is so far
 */

/** @typedef {{ resolve: (answer: any) => void, reject: (error: unknown) => void, tell?: (soFar: any) => void }} Waiting */

/** Computes in a worker, so that the page stays answering. */
export class Engine {
  /** @param {Worker} worker */
  constructor(worker) {
    this.worker = worker;
    this.numAsked = 0;
    /** @type {Map<number, Waiting>} */
    this.waiting = new Map();
    worker.onmessage = ({ data }) => this.hear(data);
    worker.onerror = (event) => this.fail(new Error(event.message || "the worker did not start"));
  }

  /**
   * Start a worker and hand it the model.
   * @param {PageData} data
   * @param {ArrayBuffer} weights which are handed over, not copied
   */
  static async open(data, weights) {
    const engine = new Engine(startWorker());
    await engine.ask("open", { data, weights }, {}, [weights]);
    return engine;
  }

  /**
   * Ask the worker something. `Tasks` in worker.js says what can be asked.
   * @template {keyof Tasks} Task
   * @param {Task} task
   * @param {Parameters<Tasks[Task]>[0]} asked
   * @param {Manner<Task>} [manner]
   * @param {Transferable[]} [handedOver]
   * @returns {Promise<ReturnType<Tasks[Task]>>}
   */
  ask(task, asked, { signal, tell } = {}, handedOver = []) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const number = this.numAsked++;
      this.waiting.set(number, { resolve, reject, tell });
      signal?.addEventListener("abort", () => {
        if (!this.waiting.delete(number)) return;
        this.worker.postMessage({ cancel: number });
        reject(signal.reason);
      });
      this.worker.postMessage({ number, task, asked }, handedOver);
    });
  }

  /** @private @param {import("./worker.js").Answer} answer */
  hear({ number, answer, soFar, error }) {
    const waiting = this.waiting.get(number);
    if (!waiting) return; // it was given up
    if (soFar !== undefined) return waiting.tell?.(soFar);
    this.waiting.delete(number);
    if (error === undefined) waiting.resolve(answer);
    else waiting.reject(new Error(error));
  }

  /** @private @param {Error} error */
  fail(error) {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}

/**
 * In one file, the page's own program is the worker's too; served as modules, its first module is.
 * @returns {Worker}
 */
export function startWorker() {
  const program = /** @type {HTMLScriptElement} */ (document.getElementById("program"));
  if (program.src) return new Worker(trusted(program.src), { type: "module" });
  // No module, as browsers do not load those for a page that is opened from disk.
  const blob = new Blob([program.text], { type: "text/javascript" });
  return new Worker(trusted(URL.createObjectURL(blob)));
}

/**
 * Mark the address as one of ours where the browser asks for that (Trusted Types).
 * @param {string} address
 * @returns {string}
 */
function trusted(address) {
  // @ts-ignore not in the compiler's list of what browsers can
  const types = window.trustedTypes;
  if (!types) return address;
  return types.createPolicy("heedful", { createScriptURL: () => address }).createScriptURL("");
}
