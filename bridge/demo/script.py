"""The script: who answers what and when, and what must come of it.

Answers come early, out of order, wrong, twice, against each other and too late; a deadline passes
while a worker is dead.
"""

from __future__ import annotations

from dataclasses import replace

from bridge.demo.agent import Agent
from bridge.demo.cast import Reply
from bridge.demo.outcomes import Ending, Passing
from bridge.demo.scene import TAKEOVER_SECONDS, Scene
from bridge.demo.stage import SESSION_SECONDS
from bridge.demo.task_agent import SIGN_IN, SIGN_IN_AT

_SENTENCES_TO_THE_KILL = 21
_OVER = {"ag-ui": " over AG-UI", "a2a": " over A2A", "genkit": ""}


def patience(pace: float) -> float:
    """Seconds until the deadline of a question: it falls into the takeover."""
    return SESSION_SECONDS / 2 + _SENTENCES_TO_THE_KILL * pace


async def play(scene: Scene) -> None:
    """From the first answer, which is early, to the last resume command."""
    await _an_early_answer(scene)
    await _questions(scene)
    await _a_sign_in(scene)
    await _answers(scene)
    await _a_worker_dies(scene)
    await _what_waited(scene)
    await _the_rest(scene)


async def _an_early_answer(scene: Scene) -> None:
    scene.screen.chapter("An answer comes before its question")
    news = scene.cast.news
    await scene.send(Reply("early", news, 0, "rewrite", "accepted", by="joe@example.org"))
    scene.screen.say("nobody has asked yet: the bridge keeps it for up to 15 minutes", "quiet")
    await scene.pause(2)


async def _questions(scene: Scene) -> None:
    scene.screen.chapter("Six agents end their runs with questions")
    for agent in scene.cast.agents:
        if agent is not scene.cast.review:
            await scene.starts(agent)
            await _asks(scene, agent)
    scene.screen.say("the early answer has found its question:", "quiet")
    await scene.verdict(scene.replies[0])
    news = scene.cast.news
    command = await scene.resume(Ending(news, news.run_id, "answers", ("resolved",)))
    again = command.resume_run_id
    await scene.ask(news, again)
    await scene.is_asked(news, again)
    scene.screen.say("newsroom asks again, in a new run; CrewAI gives it the same interrupt id:")
    scene.screen.say(news.asks(again).decode(), "quiet")
    await scene.pause()


async def _asks(scene: Scene, agent: Agent) -> None:
    await scene.ask(agent)
    await scene.is_asked(agent)
    count = agent.asked(agent.run_id)
    text = f"{agent.name} ({agent.framework}{_OVER[agent.protocol]}) asks {count} question"
    scene.screen.say(f"{text}{'s' if count > 1 else ''} on {agent.thread_id}")
    await scene.pause(0.5)


async def _a_sign_in(scene: Scene) -> None:
    """What no record can answer closes when its task goes on."""
    review = scene.cast.review
    scene.screen.chapter("A task waits for a sign-in, which no record can give")
    await scene.starts(review)
    await scene.ask(review, SIGN_IN)
    await scene.is_asked(review, SIGN_IN)
    scene.screen.say(f"code-review (ADK over A2A) waits for somebody to sign in at {SIGN_IN_AT}")
    signed_in = Reply("signed-in", review, 0, "done", "out_of_band", run_id=SIGN_IN)
    await scene.give(signed_in, why="nothing to decide here: the task itself will see the sign-in")
    await scene.passes(Passing(review, SIGN_IN, "moved_on"))
    scene.screen.say("it did, and works again: its question has closed, without a command", "good")
    await _asks(scene, review)
    scene.screen.board()
    await scene.pause()


async def _answers(scene: Scene) -> None:
    scene.screen.chapter("Answers come in any order, some of them wrong")
    files, ops, shop, news = scene.cast.files, scene.cast.ops, scene.cast.shop, scene.cast.news
    third = Reply("third", files, 2, {"approved": True}, "accepted")
    edited = {"approved": True, "editedArgs": {"path": "/data/2019-old.csv"}}
    wrong = Reply("wrong", shop, 0, {"approved": "yes"}, "invalid_payload", key="approval")
    await scene.give(third)
    await scene.give(Reply("first", files, 0, edited, "accepted", key="none"))
    await scene.give(wrong, why="refused by the question's schema; it stays open")
    await scene.give(Reply("right", shop, 0, {"approved": True, "amount": 59.9}, "accepted"))
    await scene.finish(Ending(shop, shop.run_id, "answers", ("resolved",)))
    twice = replace(third, answer_id="twice", verdict="duplicate", key="approval")
    await scene.give(twice, why="the same again: nothing to do, the sender may stop")
    other = Reply("other", files, 2, {"approved": False}, "conflict", by="bob@example.org")
    await scene.give(other, why="another answer was accepted before: the first stands")
    late = Reply("late", news, 0, "publish", "late", by="bob@example.org")
    await scene.give(late, why="that run went on; the new question with this id is not touched")
    review, bank = scene.cast.review, scene.cast.bank
    await scene.give(Reply("merge", review, 0, {"confirmed": True}, "accepted"))
    await scene.give(Reply("account", bank, 1, {"answer": "giro"}, "accepted"))
    await scene.give(Reply("drain", ops, 0, {"approved": True}, "accepted"))
    scene.screen.board()


async def _a_worker_dies(scene: Scene) -> None:
    files, travel = scene.cast.files, scene.cast.travel
    victim = scene.stage.holder(files)
    scene.screen.chapter(f"SIGKILL to {victim.name}")
    crash = scene.kill(victim)
    slots = f"slots {' and '.join(map(str, crash.slots))}"
    scene.screen.say(f"{victim.name} is dead; {slots} with open questions are orphaned", "bad")
    scene.screen.say("answers keep coming, and the other worker goes on", "quiet")
    waiting = (
        Reply("second", files, 1, {"approved": True}, "accepted"),
        Reply("fourth", files, 3, None, "accepted", status="cancelled", key="none"),
    )
    for reply in waiting:
        await scene.send(reply)
    flight = Reply("flight", travel, 0, {"flight": "TP 573"}, "accepted")
    await scene.send(flight)
    await scene.verdict(flight, TAKEOVER_SECONDS)
    silence = f"{SESSION_SECONDS} s of silence"
    scene.screen.say(f"the group gives the dead worker's slots away after {silence}", "quiet")
    await scene.taken_over(crash)
    scene.screen.say(f"{slots} are served again, {crash.seconds:.1f} s after the kill", "good")
    for reply in waiting:
        await scene.verdict(reply)


async def _what_waited(scene: Scene) -> None:
    """The run whose last answers came to nobody, and the question whose deadline did."""
    files, ops = scene.cast.files, scene.cast.ops
    statuses = ("resolved", "resolved", "resolved", "cancelled")
    await scene.finish(Ending(files, files.run_id, "answers", statuses))
    scene.screen.say("the deadline of ops-runner has passed; its second question is abandoned")
    mixed = Ending(ops, ops.run_id, "mixed", ("resolved", "cancelled"))
    await scene.finish(mixed, TAKEOVER_SECONDS)
    overslept = Reply("overslept", ops, 1, {"approved": True}, "expired", by="bob@example.org")
    await scene.give(overslept, why="after its deadline: never applied, never silent")


async def _the_rest(scene: Scene) -> None:
    scene.screen.chapter("The last answers")
    scene.screen.board()
    travel, news = scene.cast.travel, scene.cast.news
    await scene.give(Reply("hotel", travel, 1, {"limit": 420.50}, "accepted", key="approval"))
    await scene.finish(Ending(travel, travel.run_id, "answers", ("resolved", "resolved")))
    first = scene.witness.commands[news.name, news.thread_id, news.run_id]
    again = first.resume_run_id
    await scene.give(Reply("publish", news, 0, "publish", "accepted", run_id=again))
    await scene.finish(Ending(news, again, "answers", ("resolved",)))
    # The same approvals and answers for other protocols; what goes out is the agent's own request.
    review, bank = scene.cast.review, scene.cast.bank
    await scene.give(Reply("release", review, 1, {"release": "2.0"}, "accepted", key="none"))
    scene.screen.say("A2A takes all answers in one message", "quiet")
    await scene.finish(Ending(review, review.run_id, "answers", ("resolved", "resolved")))
    await scene.give(Reply("transfer", bank, 0, {"approved": True}, "accepted", key="approval"))
    scene.screen.say(
        "Genkit restarts one tool and takes the other's output from the answer", "quiet"
    )
    await scene.finish(Ending(bank, bank.run_id, "answers", ("resolved", "resolved")))
