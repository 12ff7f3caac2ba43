"use strict";
// One page for a live game, a review and a report. A live game asks its server for the position and
// decides nothing itself; a stored page has all positions of its games in the element "data".

const $ = (id) => document.getElementById(id);
const THINKING = 150, IDLE = 400, LOST = 1500; // Milliseconds between two looks.
let shown = { version: -1, position: "", legal: [], seats: [], turns: [] };
let places = {}, source = null, asked = null, arrived = 0, lost = false;
const stored = $("data") && JSON.parse($("data").textContent);
let game = null, here = 0; // Of a stored page: the game, and the number of moves before the position.

const element = (name, text = "", kind = "") => {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
};

const put = (place, ...children) => {
  // Nothing that has the focus is replaced by its equal.
  const fresh = document.createElement("div");
  fresh.append(...children);
  if (place.innerHTML !== fresh.innerHTML) place.replaceChildren(...fresh.childNodes);
};

// Talking to the server.

async function look() {
  let pause = IDLE;
  try {
    const query = new URLSearchParams({ version: shown.version, position: shown.position });
    if (asked !== null) query.set("seat", asked);
    const answer = await fetch("state?" + query);
    if (lost) { lost = false; complain(""); }
    if (answer.status === 200) show(await answer.json());
    else if (answer.status !== 204) complain("The server refuses this page: open its address again.");
    const review = shown.review?.all && !shown.review.ready && !shown.review.error;
    if (shown.thinking !== null || shown.advising || review) pause = THINKING;
  } catch {
    lost = true;
    complain("The server does not answer. It may have ended.");
    pause = LOST;
  }
  setTimeout(look, document.hidden ? LOST : pause);
}

async function act(what, more = {}) {
  if (stored) return;
  const seat = asked ?? shown.viewer;
  const body = JSON.stringify({ do: what, seat, position: shown.position, ...more });
  const options = { method: "POST", body, headers: { "content-type": "application/json" } };
  try {
    const answer = await fetch("do", options);
    const state = await answer.json();
    if (answer.ok) { complain(""); show(state); } else complain(state.error);
  } catch {
    complain("The server does not answer. It may have ended.");
  }
}

function complain(text, retries = false) {
  $("error").hidden = !text;
  $("error").textContent = text;
  if (retries) {
    const again = element("button", "Try again");
    again.onclick = () => act("resume");
    $("error").append(again);
  }
}

// Showing.

function show(state) {
  if (state.version < shown.version && state.position === shown.position) return;
  const before = shown;
  shown = { ...state, picture: state.picture ?? before.picture };
  arrived = performance.now();
  if (state.picture) draw(state.picture);
  const mine = shown.legal.length > 0 && !shown.over;
  document.title = `${shown.game} – rave-agents`;
  $("game").textContent = shown.game;
  $("status").textContent = shown.error ? "Stopped." : shown.status;
  $("status").classList.toggle("mine", mine && !shown.advising);
  if (shown.error) complain(shown.error, true);
  else if (before.error) complain("");
  showSeats();
  showMoves(mine);
  showThought();
  showHeat();
  showCurve();
  showTurns();
  announce(before);
  showCover();
  showReview();
  const thinks = shown.thinking !== null;
  const can = {
    undo: shown.turns.length > 0, hint: mine && !shown.advising, hurry: thinks,
    review: shown.turns.length > 0 && (shown.over || !shown.hides),
    swap: shown.seats.length > 1, resign: mine && shown.people.length > 0, new: true,
    pause: !shown.paused, resume: shown.paused, step: shown.paused && !shown.over,
  };
  for (const button of document.querySelectorAll("[data-do]"))
    button.disabled = !can[button.dataset.do];
  $("watch").hidden = shown.people.length > 0;
  if (document.activeElement !== $("pace")) $("pace").value = 3 - shown.pace;
}

function draw(picture) {
  places = picture.places;
  source = null;
  const focused = document.activeElement?.dataset?.cell;
  $("board").innerHTML = picture.svg; // Drawn by the server, every name in it escaped.
  document.body.classList.toggle("stones", Boolean(document.querySelector(".board.stones")));
  if (picture.image) {
    const image = element("img");
    image.src = picture.image;
    image.alt = "The environment as it draws itself";
    $("board").replaceChildren(image);
  }
  $("text").hidden = Boolean(picture.svg || picture.image);
  $("text").replaceChildren(fields(picture.text) ?? picture.text);
  for (const cell of cells()) cell.setAttribute("tabindex", "-1");
  const first = focused === undefined ? cells()[0] : cells()[focused] ?? cells()[0];
  first?.setAttribute("tabindex", "0");
  if (focused !== undefined) first?.focus();
}

function fields(text) {
  // Some games print what a player sees as [name: value][name: value].
  const found = [...text.trim().matchAll(/\[([^\]:]+)(:?)([^\]]*)\]/g)];
  if (found.length < 2 || found.map((each) => each[0]).join("") !== text.trim()) return null;
  const list = element("dl");
  for (const [, name, colon, value] of found)
    list.append(element("dt", name.trim()), element("dd", value.trim() || (colon && "–")));
  return list;
}

const cells = () => [...document.querySelectorAll("#board .cell")];
const seatName = (seat) => {
  const who = shown.seats[seat]?.who;
  return who === "person" ? (shown.people.length === 1 ? "You" : `Player ${seat}`) : who;
};
const clock = (seconds) => {
  const whole = Math.max(0, seconds);
  if (whole < 10) return whole.toFixed(1);
  return `${Math.floor(whole / 60)}:${String(Math.floor(whole % 60)).padStart(2, "0")}`;
};

function showSeats() {
  const since = (performance.now() - arrived) / 1000;
  put($("seats"), ...shown.seats.map((seat, number) => {
    const moves = shown.movers.includes(number);
    const card = element("div", "", `seat${moves ? " moves" : ""}`);
    card.append(element("span", "", `dot c${number % 4}`), element("b", seatName(number)));
    if (seat.side) card.append(element("small", seat.side));
    if (seat.chosen) card.append(element("small", "has chosen"));
    if (seat.left !== null) {
      const left = seat.left - (moves && !shown.over ? since : 0);
      card.classList.toggle("low", left < 10);
      card.append(element("time", clock(left)));
    }
    return card;
  }));
  if (!$("sitting").contains(document.activeElement))
    put($("sitting"), ...shown.seats.map((seat, number) => {
      const label = element("label", `Seat ${number}`);
      const input = element("input");
      input.setAttribute("list", "agents");
      input.setAttribute("value", seat.who);
      input.setAttribute("spellcheck", "false");
      input.setAttribute("data-seat", number);
      label.append(input);
      return label;
    }));
}

function showMoves(mine) {
  $("moving").hidden = !mine;
  const typed = $("filter").value.trim().toLowerCase();
  const chosen = source === null ? shown.legal
    : shown.legal.filter((move) => places[move.action]?.[1] === source);
  const fitting = chosen.filter((move) => move.name.toLowerCase().includes(typed));
  const own = shown.thought?.now && shown.thought.player === shown.viewer;
  const best = own ? shown.thought.action : null;
  put($("legal"), ...fitting.map((move) => {
    const chip = element("button", move.name, move.action === best ? "best" : "");
    chip.setAttribute("data-action", move.action);
    return chip;
  }));
  const targets = new Set(), sources = new Set();
  for (const move of shown.legal) {
    const place = places[move.action];
    if (!place) continue;
    if (place[1] === null) targets.add(place[0]);
    else { sources.add(place[1]); if (place[1] === source) targets.add(place[0]); }
  }
  cells().forEach((cell, index) => {
    cell.classList.toggle("can", targets.has(index) || sources.has(index));
    cell.classList.toggle("from", index === source);
    cell.classList.toggle("to", source !== null && targets.has(index));
    const name = cell.querySelector("title").textContent;
    const use = index === source ? ", chosen" : targets.has(index) ? ", can be played"
      : sources.has(index) ? ", can be moved" : "";
    cell.setAttribute("role", "button");
    cell.setAttribute("aria-label", name + use);
    cell.setAttribute("aria-disabled", String(!targets.has(index) && !sources.has(index)));
  });
}

const decimals = (value) => value === null ? "–" : (Math.round(100 * value) / 100 + 0).toFixed(2);

function showThought() {
  const thought = shown.thought;
  if (!thought) {
    const why = shown.hides && !shown.over && shown.seats.some((seat) => seat.who !== "person")
      ? "It is shown when the game is over: it knows a hand."
      : stored ? "No search of this position." : "Nothing yet.";
    return put($("thought"), element("p", why, "quiet"));
  }
  const line = element("p", "", "line");
  const proven = thought.proven ? `, a proven ${thought.proven}` : "";
  const value = thought.proven ? "" : `, value ${decimals(thought.value)}`;
  line.append(element("b", thought.name), `${value}${proven}`);
  const when = thought.now ? "" : ` for move ${thought.turn + 1}`;
  const effort = `${thought.simulations.toLocaleString("en")} simulations in ` +
    `${thought.seconds.toFixed(1)} s by seat ${thought.player}${when}`;
  const expects = element("p", "", "line quiet");
  if (thought.line.length > 1) expects.textContent = `expects ${thought.line.join(" ")}`;
  const most = Math.max(1, ...thought.actions.map((row) => row.visits));
  const amaf = thought.actions.some((row) => row.amaf_visits > 0);
  const proofs = thought.actions.some((row) => row.outcome !== null);
  const table = element("table");
  const head = ["move", "visits", "", "value", ...(amaf ? ["AMAF"] : []),
    ...(proofs ? ["proven"] : [])];
  const top = element("tr");
  top.append(...head.map((name) => element("th", name)));
  table.append(top, ...thought.actions.slice(0, 7).map((row) => {
    const made = element("tr"), bar = element("td"), filled = element("span", "", "bar");
    filled.setAttribute("style", `width:${(4 * row.visits / most).toFixed(2)}rem`);
    bar.setAttribute("style", "text-align:left;width:4.4rem");
    bar.append(filled);
    made.append(element("td", row.name), element("td", row.visits.toLocaleString("en")), bar,
      element("td", decimals(row.value)));
    if (amaf) made.append(element("td", decimals(row.amaf_value)));
    if (proofs) made.append(element("td", row.outcome === null ? "" : provenText(row)));
    return made;
  }));
  const wide = element("div", "", "wide");
  wide.append(table);
  put($("thought"), line, expects, wide, element("p", effort, "quiet"));
}

const provenText = (row) => (row.outcome > 0 ? "+" : "") + row.outcome +
  (row.distance === null ? "" : ` in ${row.distance}`);

function showHeat() {
  const what = $("heat").value, thought = shown.thought;
  const at = {};
  if (what && thought?.now) {
    const most = Math.max(1, ...thought.actions.map((row) => row.visits));
    const rows = thought.actions.filter((row) => row.visits > 0 || what !== "value");
    const sure = rows.filter((row) => row.visits >= 0.05 * most).map((row) => row[what])
      .filter((value) => value !== null);
    const low = Math.min(...sure), high = Math.max(...sure);
    for (const row of rows) {
      const place = places[row.action], value = row[what];
      if (!place || value === null || (what === "visits" && !value)) continue;
      const share = what === "visits" ? value / most
        : what === "outcome" ? (value > 0 ? 1 : value < 0 ? 0.1 : 0.5)
        : high > low ? Math.min(1, Math.max(0, (value - low) / (high - low))) : 0.5;
      const text = what === "visits" ? brief(value) : what === "outcome" ? provenText(row)
        : value.toFixed(2).replace("0.", ".");
      if (!(place[0] in at) || at[place[0]][0] < share) at[place[0]] = [share, text];
    }
  }
  for (const mark of document.querySelectorAll("#board .heat")) {
    const found = at[mark.dataset.at];
    mark.style.opacity = found && found[0] > 0.004 ? 0.1 + 0.75 * found[0] : 0;
  }
  for (const text of document.querySelectorAll("#board .num")) {
    const found = at[text.dataset.at];
    const label = found && found[0] > 0.02 ? found[1] : "";
    if (text.textContent !== label) text.textContent = label;
  }
}

const brief = (count) => count < 1000 ? String(count)
  : count < 1e6 ? `${(count / 1e3).toFixed(count < 1e4 ? 1 : 0)}k` : `${(count / 1e6).toFixed(1)}M`;

function showCurve() {
  const known = shown.turns.map((turn, place) => [place + 1, turn.value])
    .filter(([, value]) => value !== null);
  $("curving").hidden = known.length === 0;
  if (!known.length) return;
  const values = known.map(([, value]) => value);
  const [low, high] = shown.limits ?? [Math.min(...values), Math.max(...values)];
  const wide = stored ? shown.turns.length : Math.max(8, shown.turns.length);
  const x = (place) => (300 * place / wide).toFixed(1);
  const y = (value) => (94 - 88 * (high > low ? (value - low) / (high - low) : 0.5)).toFixed(1);
  const points = known.map(([place, value]) => `${x(place)},${y(value)}`).join(" ");
  const [place, value] = known[known.length - 1];
  const dots = known.filter(([place]) => shown.turns[place - 1].word).map(([place, value]) =>
    `<ellipse class="${shown.turns[place - 1].word}" cx="${x(place)}" cy="${y(value)}" rx="2.6" ry="3.4"/>`);
  const mark = stored ? `<line class="here" x1="${x(here)}" x2="${x(here)}" y1="2" y2="98"/>`
    : `<circle class="point" cx="${x(place)}" cy="${y(value)}" r="3"/>`;
  $("curve").innerHTML =
    `<svg viewBox="0 0 300 100" preserveAspectRatio="none" role="img" ` +
    `aria-label="Value for seat 0: ${value.toFixed(2)} after ${place} moves">` +
    `<line class="zero" x1="0" x2="300" y1="50" y2="50"/>` +
    `<polyline class="path" points="0,50 ${points}"/>` +
    `${mark}${dots.join("")}</svg>`;
}

function showTurns() {
  put($("turns"), ...shown.turns.map((turn, place) => {
    const row = element("li", "", turn.word ?? "");
    if (stored) row.setAttribute("data-step", place + 1);
    if (stored && place + 1 === here) row.setAttribute("aria-current", "step");
    const kind = turn.player >= 0 ? `c${turn.player % 4}` : "chance";
    row.append(element("span", "", `who ${kind}`), turn.names.join(" "));
    return row;
  }));
}

function announce(before) {
  const list = $("turns");
  if (shown.turns.length !== before.turns.length) list.scrollTop = list.scrollHeight;
  const last = shown.turns[shown.turns.length - 1];
  if (last && shown.turns.length > before.turns.length && before.version >= 0)
    $("news").textContent =
      `${last.player < 0 ? "Chance" : seatName(last.player)}: ${last.names.join(" ")}`;
}

function showCover() {
  // People who share a screen see each other's hand only when they ask for it.
  const other = shown.movers.find((seat) => shown.people.includes(seat));
  const covered = shown.hides && shown.people.length > 1 && other !== undefined &&
    other !== (asked ?? -1) && !shown.over;
  $("cover").hidden = !covered;
  $("board").hidden = covered;
  if (covered) {
    $("text").hidden = $("moving").hidden = true;
    const button = element("button", `Show the view of seat ${other}`);
    button.onclick = () => { asked = other; shown.version = -1; shown.position = ""; look1(); };
    put($("cover"), element("p", `Seat ${other} is to move.`, "quiet"));
    $("cover").append(button);
  }
}

function showReview() {
  const review = shown.review ?? {};
  $("review").hidden = !review.all;
  if (!review.all) return;
  if (review.error) $("review").textContent = `The review failed: ${review.error}`;
  else if (!review.ready) $("review").textContent =
    `Reviewing: ${review.done} of ${review.all} positions.`;
  else if (!$("review").querySelector("a")) {
    const link = element("a", "Open the review");
    link.href = "review";
    link.target = "_blank";
    $("review").replaceChildren(link);
  }
}

async function look1() {
  const query = new URLSearchParams({ position: "", seat: asked ?? "" });
  show(await (await fetch("state?" + query)).json());
}

// Acting.

function choose(index) {
  const own = shown.legal.filter((move) => places[move.action]);
  const targets = own.filter(({ action }) =>
    places[action][0] === index && places[action][1] === source);
  if (index === source) source = null;
  else if (targets.length === 1) return act("move", { action: targets[0].action });
  else if (targets.length > 1) {
    $("filter").value = "";
    showMoves(true);
    put($("legal"), ...targets.map((move) => {
      const chip = element("button", move.name);
      chip.setAttribute("data-action", move.action);
      return chip;
    }));
    return $("legal").firstChild.focus();
  } else source = own.some(({ action }) => places[action][1] === index) ? index : null;
  showMoves(shown.legal.length > 0);
}

const cellAt = (event) => {
  const cell = document.elementFromPoint(event.clientX, event.clientY)?.closest("#board .cell");
  return cell ? Number(cell.dataset.cell) : null;
};
let pressed = null;
$("board").addEventListener("pointerdown", (event) => { pressed = cellAt(event); });
$("board").addEventListener("pointerup", (event) => {
  const at = cellAt(event), began = pressed;
  pressed = null;
  if (at === null || began === null) return;
  if (at !== began) { // A piece was dragged.
    source = null;
    choose(began);
    if (source === null) return;
  }
  choose(at);
});

$("board").addEventListener("keydown", (event) => {
  const all = cells(), here = all.indexOf(event.target);
  if (here < 0) return;
  if (event.key === "Enter" || event.key === " ") { event.preventDefault(); return choose(here); }
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!way) return;
  event.preventDefault();
  const middle = (cell) => {
    const box = cell.querySelector(".shape").getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const [x, y] = middle(all[here]);
  let best = null, least = Infinity;
  for (const cell of all) {
    const [a, b] = middle(cell);
    const along = (a - x) * way[0] + (b - y) * way[1];
    const across = Math.abs((a - x) * way[1]) + Math.abs((b - y) * way[0]);
    if (along > 1 && along + 3 * across < least) { least = along + 3 * across; best = cell; }
  }
  if (best) {
    event.target.setAttribute("tabindex", "-1");
    best.setAttribute("tabindex", "0");
    best.focus();
  }
});

$("legal").addEventListener("click", (event) => {
  const chip = event.target.closest("[data-action]");
  if (chip) { $("filter").value = ""; act("move", { action: Number(chip.dataset.action) }); }
});
$("filter").addEventListener("input", () => showMoves(true));
$("filter").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  const typed = event.target.value.trim().toLowerCase();
  const move = shown.legal.find(({ name }) => name.toLowerCase() === typed);
  const chips = $("legal").querySelectorAll("button");
  const action = move ? move.action : chips.length === 1 ? Number(chips[0].dataset.action) : null;
  if (action === null) return complain(`No single move fits “${event.target.value}”.`);
  event.target.value = "";
  act("move", { action });
});
$("heat").addEventListener("change", showHeat);
$("pace").addEventListener("input", (event) => act("pace", { seconds: 3 - event.target.value }));
$("sitting").addEventListener("change", (event) => {
  event.target.blur();
  act("seat", { place: Number(event.target.dataset.seat), who: event.target.value });
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  if (button) act(button.dataset.do);
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input,select")) return;
  const button = { u: "undo", h: "hint", p: "hurry" }[event.key];
  const found = button && document.querySelector(`[data-do=${button}]`);
  if (found && !found.disabled) act(button);
});

// Stepping through a stored game.

function step(to) {
  here = Math.max(0, Math.min(game.steps.length - 1, to));
  const at = game.steps[here];
  shown = { ...shown, turns: game.turns, limits: game.limits, thought: at.thought };
  if (at.svg || at.pieces === null) draw({ places: {}, image: "", ...at });
  else {
    if (!document.querySelector("#board .pieces.of-game")) {
      draw({ ...at, places: {}, svg: game.board, image: "" });
      document.querySelector("#board .pieces").classList.add("of-game");
    }
    document.querySelector("#board .pieces").innerHTML = at.pieces;
  }
  $("said").textContent = at.said;
  $("slider").value = here;
  showThought();
  showHeat();
  showCurve();
  showTurns();
}

function openGame(number) {
  game = stored[number];
  $("board").replaceChildren();
  $("slider").max = game.steps.length - 1;
  $("thinking").hidden = game.steps.every((at) => !at.thought);
  const mistakes = game.turns.map((turn, place) => [turn, place + 1]).filter(([turn]) => turn.word);
  $("mistaking").hidden = !game.reviewed;
  put($("mistakes"), ...mistakes.map(([turn, place]) => {
    const button = element("button", game.steps[place].said, `mistake-of ${turn.word}`);
    button.setAttribute("data-step", place);
    return button;
  }));
  if (!mistakes.length) put($("mistakes"), element("p", "None that cost a tenth of the range.", "quiet"));
  step(mistakes.length ? mistakes[0][1] : game.steps.length - 1);
}

function openStored() {
  document.querySelector("main").hidden = !stored.length;
  if (!stored.length) return;
  $("games").hidden = stored.length < 2;
  $("games").append(...stored.map((each, place) => new Option(each.title, place)));
  $("games").addEventListener("change", () => openGame(Number($("games").value)));
  $("slider").addEventListener("input", () => step(Number($("slider").value)));
  $("back").addEventListener("click", () => step(here - 1));
  $("on").addEventListener("click", () => step(here + 1));
  document.addEventListener("click", (event) => {
    const target = event.target.closest("[data-step]");
    if (target) step(Number(target.dataset.step));
  });
  document.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by && !event.target.closest("input,select,#board")) step(here + by);
  });
  $("curve").addEventListener("click", (event) => {
    const box = $("curve").getBoundingClientRect();
    step(Math.round((event.clientX - box.x) / box.width * (game.steps.length - 1)));
  });
  openGame(0);
}

function follow() {
  setInterval(() => { if (shown.seats.some((seat) => seat.left !== null)) showSeats(); }, 200);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) look1().catch(() => {});
  });
  look();
}

if (stored) openStored(); else follow();
