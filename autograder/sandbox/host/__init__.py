"""The grader's side of the sandbox: it holds a zygote and its workers by handles, and never runs student code.

zygote   starts `sandbox/zygote.py` as a process of its own, and has it fork a worker or end one
zygotes  hold the one of a run, and replace it when it failed
spawner  stands in for it where a process with torch in it cannot be forked
worker   sends frames to a worker (`sandbox/worker.py`, in the process that was forked) and gets checked replies
deadline says how long is still to be waited for one
output   keeps what it prints
errors   are what any of them raises
"""
