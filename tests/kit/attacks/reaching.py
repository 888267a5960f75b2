"""Attacks that want out: to the network, to other processes, and to programs of the machine."""

from __future__ import annotations

from attacks.corpus import Attack, instead, tries

ATTACKS = [
    Attack(
        "tcp_udp_loopback",
        "connects to a port of this machine, and sends a datagram to it",
        tries("""
            import socket
            attempt('tcp', lambda: socket.create_connection(('127.0.0.1', @PORT@), 0.2).getpeername())
            for address in ('127.0.0.1', '::1', 'localhost'):
                family = socket.AF_INET6 if ':' in address else socket.AF_INET
                attempt(('udp', address), lambda: socket.socket(family, socket.SOCK_DGRAM).sendto(b'x', (address, @PORT@)))
        """),
    ),
    Attack(
        "listening",
        "opens ports of its own and waits for callers, with asyncio and with a web server",
        tries("""
            import asyncio, http.server, socket, socketserver

            async def serve():
                server = await asyncio.start_server(print, '127.0.0.1', 0)
                return server.sockets[0].getsockname()

            attempt('asyncio', lambda: asyncio.run(serve()))
            attempt('http', lambda: http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler).server_port)
            attempt('udp', lambda: socketserver.UDPServer(('127.0.0.1', 0), None).server_address)
            attempt('listen', lambda: socket.create_server(('', 0)).getsockname())
        """),
    ),
    Attack(
        "urllib_loopback",
        "asks a web server of this machine with the libraries for it",
        tries("""
            import ftplib, http.client, smtplib, socket, torch.hub, urllib.request, xmlrpc.client
            socket.setdefaulttimeout(0.15)

            def reached(act):  # nobody answers there, so that it waits in vain means that it got through
                try:
                    act()
                except TimeoutError:
                    return 'connected'
                except OSError as error:
                    return isinstance(getattr(error, 'reason', None), TimeoutError) and 'connected'

            attempt('http', lambda: http.client.HTTPConnection('127.0.0.1', @PORT@).request('GET', '/') is None)
            attempt('urllib', lambda: reached(lambda: urllib.request.urlopen('http://127.0.0.1:@PORT@/')))
            attempt('hub', lambda: reached(lambda: torch.hub.load_state_dict_from_url('http://127.0.0.1:@PORT@/kit_attack.pt', '/tmp')))
            attempt('xmlrpc', lambda: reached(lambda: xmlrpc.client.ServerProxy('http://127.0.0.1:@PORT@/').kit_attack()))
            attempt('smtp', lambda: reached(lambda: smtplib.SMTP('127.0.0.1', @PORT@)))
            attempt('ftp', lambda: reached(lambda: ftplib.FTP().connect('127.0.0.1', @PORT@)))
        """),
    ),
    Attack(
        "unix_path",
        "connects to a socket in the file tree",
        tries("""
            import socket

            def connected(path):
                caller = socket.socket(socket.AF_UNIX)
                caller.settimeout(0.2)
                caller.connect(path)
                return path

            for path in ('@SOCKET@', '/var/run/docker.sock', '/run/systemd/private', '/run/dbus/system_bus_socket', '/dev/log'):
                attempt(path, lambda: connected(path))
        """),
    ),
    Attack(
        "unix_abstract",
        "meets a partner at a socket that has a name but no file, and passes it a descriptor",
        tries("""
            import os, socket
            attempt('bound', lambda: socket.socket(socket.AF_UNIX).bind('\\0kit_attack') is None)

            def handed_over():
                ours, theirs = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                theirs.bind('\\0kit_attack_partner')
                ours.connect('\\0kit_attack_partner')
                socket.send_fds(ours, [b'x'], [0])
                return socket.recv_fds(theirs, 1, 1)

            attempt('descriptor', handed_over)
            attempt('pair', lambda: [one.fileno() for one in socket.socketpair()])
        """),
    ),
    Attack(
        "every_family",
        "asks for a socket of every family and kind: raw, netlink, packet, vsock, crypto, xdp",
        tries("""
            import ctypes
            libc = ctypes.CDLL(None, use_errno=True)
            for family in range(48):
                for kind in (1, 2, 3, 5):
                    attempt(('family', family, kind), lambda: libc.close(libc.socket(family, kind, 0)))
        """),
    ),
    Attack(
        "own_channel",
        "uses the channel it answers on as a socket: asks who is there, calls somebody else, shuts it half",
        tries("""
            import ctypes, platform, struct
            libc = ctypes.CDLL(None, use_errno=True)
            room, size = ctypes.create_string_buffer(128), ctypes.c_int(128)
            there = ctypes.create_string_buffer(struct.pack('=HBBI8x', 2, @PORT@ >> 8, @PORT@ & 255, 0x0100007F))
            for number in range(64):
                attempt((number, 'peer'), lambda: libc.getsockopt(number, 1, 17, room, ctypes.byref(size)) or struct.unpack('iII', room[:12]))
                attempt((number, 'name'), lambda: libc.getpeername(number, room, ctypes.byref(size)))
                attempt((number, 'peek'), lambda: libc.recv(number, room, 64, 0x42))
                attempt((number, 'send'), lambda: libc.send(number, room, 0, 0x40))
                attempt((number, 'connect'), lambda: libc.connect(number, there, 16))
                attempt((number, 'accept'), lambda: libc.accept(number, None, None))
        """),
    ),
    Attack(
        "names_of_hosts",
        "has the C library resolve the name of a host",
        tries("""
            import socket
            attempt('localhost', lambda: socket.getaddrinfo('localhost', 80))
            attempt('own name', lambda: socket.gethostbyname(socket.gethostname()))
            attempt('interfaces', lambda: socket.if_nameindex())
            attempt('service', lambda: socket.getservbyname('domain'))
        """),
    ),
    Attack(
        "torch_stores",
        "opens the stores by which torch's own processes find each other",
        tries("""
            import datetime, os, torch.distributed as dist
            unlimited()
            brief = datetime.timedelta(seconds=0.2)
            attempt('server', lambda: dist.TCPStore('127.0.0.1', 0, 1, True, brief, False).port)

            if os.path.isdir('/tmp'):  # torch waits five minutes for a folder that is not there
                attempt('file', lambda: dist.FileStore('/tmp/kit_attack_store', 1).set('a', 'b') is None)
            for path in ('/tmp/kit_attack_store',):
                if os.path.exists(path):
                    os.remove(path)
        """),
    ),
    Attack(
        "shared_by_torch",
        "shares tensors with other processes through torch's shared memory",
        tries("""
            import torch, torch.multiprocessing as processes
            unlimited()
            attempt('descriptor', lambda: torch.ones(4).share_memory_().is_shared())
            processes.set_sharing_strategy('file_system')
            attempt('file', lambda: torch.ones(4).share_memory_().is_shared())
            attempt('manager', lambda: torch.UntypedStorage._new_using_filename_cpu(8).is_shared())
        """),
    ),
    Attack(
        "multiprocessing_tools",
        "computes in processes, pools, managers and locks of the library",
        tries("""
            import multiprocessing, time
            unlimited()

            def ended(process):
                process.start()
                process.join(0.3)
                return process.pid

            forked = multiprocessing.get_context('fork')
            attempt('process', lambda: ended(forked.Process(target=time.sleep, args=(0,))))
            attempt('lock', lambda: forked.Lock().acquire())
            attempt('pipe', lambda: forked.Pipe()[0].fileno())
            attempt('queue', lambda: forked.SimpleQueue().put(1) is None)
        """),
    ),
    Attack(
        "run_programs",
        "runs programs: echo, sh, git, curl, pip and Python itself",
        tries("""
            import os, subprocess, sys
            for words in (['/bin/echo', 'hello'], ['sh', '-c', 'id'], ['/usr/bin/env'], ['git', '--version'], ['curl', '--version'],
                          [sys.executable or 'python3', '-c', 'print(1)'], ['/lib64/ld-linux-x86-64.so.2', '--version']):
                attempt(words[0], lambda: subprocess.run(words, capture_output=True, timeout=0.4, env={}).stdout[:60])
            attempt('getoutput', lambda: 'hello' in subprocess.getoutput('echo hello'))
        """),
    ),
    Attack(
        "shells",
        "has the C library start a shell: system, popen, wordexp, a pager",
        tries("""
            import ctypes, os, platform
            libc = ctypes.CDLL(None, use_errno=True)
            libc.popen.restype = ctypes.c_void_p
            attempt('os.system', lambda: os.system('exit 7') == 7 << 8)
            attempt('os.popen', lambda: os.popen('echo hello').read())
            attempt('system', lambda: libc.system(b'exit 7') == 7 << 8)
            attempt('wordexp', lambda: libc.wordexp(b'$(echo hello)', ctypes.create_string_buffer(64), 0) == 0)
            attempt('platform', lambda: platform._syscmd_file('/bin/sh'))
        """),
    ),
    Attack(
        "spawn_programs",
        "starts a program without a fork of its own: posix_spawn and spawnv",
        tries("""
            import os

            def ended(pid):
                return pid, os.waitpid(pid, 0)[1]

            attempt('posix_spawn', lambda: ended(os.posix_spawn('/bin/true', ['true'], {})))
            attempt('posix_spawnp', lambda: ended(os.posix_spawnp('true', ['true'], {'PATH': '/bin:/usr/bin'})))
            attempt('spawnv', lambda: os.spawnv(os.P_WAIT, '/bin/true', ['true']) == 0)
        """),
    ),
    Attack(
        "exec_by_descriptor",
        "replaces itself with a program that it has opened, or holds in memory only",
        tries("""
            import os
            for path in ('/bin/echo', '/usr/bin/echo'):
                for number in range(8):  # the channel too, or the grader would end it at once
                    attempt('kept open', lambda: os.set_inheritable(number, True))
                attempt(path, lambda: os.execve(os.open(path, os.O_RDONLY), ['echo', 'GOT IT by a descriptor'], {}))
            attempt('memory', lambda: os.memfd_create('kit_attack'))
        """),
    ),
    Attack(
        "load_a_library",
        "loads machine code from a file that it has written, or from memory that has a name",
        tries("""
            import _struct, ctypes, os
            unlimited()

            def loaded(path, descriptor):
                code = open(getattr(_struct, '__file__', None) or next(f'{folder}/libm.so.6' for folder in (
                    '/lib/x86_64-linux-gnu', '/lib/aarch64-linux-gnu', '/usr/lib', '/lib64') if os.path.exists(f'{folder}/libm.so.6')), 'rb').read()
                os.write(descriptor, code)
                return ctypes.CDLL(path)._handle

            for folder in ('/tmp', '/dev/shm', '/var/tmp', '.'):
                path = f'{folder}/kit_attack_library.so'
                attempt(folder, lambda: loaded(path, os.open(path, os.O_CREAT | os.O_RDWR, 0o700)))
                if os.path.exists(path):
                    os.remove(path)

            def in_memory():
                descriptor = os.memfd_create('kit_attack')
                return loaded(f'/proc/self/fd/{descriptor}', descriptor)

            attempt('memory', in_memory)
        """),
    ),
    Attack(
        "terminals",
        "opens a terminal of its own, to run a program in it",
        tries("""
            import os, pty
            attempt('openpty', os.openpty)
            for path in ('/dev/ptmx', '/dev/pts/ptmx', '/dev/tty', '/dev/console', '/dev/tty1'):
                attempt(path, lambda: os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK))
        """),
    ),
    Attack(
        "helpers_of_python",
        "lets the library start what it starts for people: a browser, an installer, a compiler, a resource tracker",
        tries("""
            import sys
            from multiprocessing import resource_tracker, shared_memory
            import webbrowser
            attempt('browser', lambda: webbrowser.open('http://127.0.0.1:@PORT@/'))
            attempt('tracker', lambda: resource_tracker.ensure_running() or resource_tracker._resource_tracker._pid)
            attempt('fork_exec', lambda: __import__('_posixsubprocess').fork_exec(
                [b'true'], [b'/bin/true'], True, (), None, [], -1, -1, -1, -1, -1, -1, *__import__('os').pipe(), False, False, 0,
                None, None, None, -1, None))
        """),
    ),
    Attack(
        "old_calls_32",
        "calls the kernel by the numbers of 32-bit programs, which a filter may have forgotten",
        instead(
            "return x",
            before="""
                import ctypes, mmap, platform
                if platform.machine() == 'x86_64':  # socket(AF_UNIX, SOCK_STREAM, 0) by int 0x80
                    code = bytes.fromhex('53 bb01000000 b901000000 ba00000000 b867010000 cd80 5b c3')
                    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
                    page.write(code)
                    got = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
                    if got >= 0:
                        print('GOT IT', got, flush=True)
            """,
        ),
        keeps=False,
    ),
    Attack(
        "old_calls_x32",
        "calls the kernel by the numbers of x32 programs, which a filter may have forgotten",
        instead(
            "return x",
            before="""
                import ctypes, platform
                if platform.machine() == 'x86_64':
                    got = ctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 + 41), 1, 1, 0)
                    if got >= 0:
                        print('GOT IT', got, flush=True)
            """,
        ),
        keeps=False,
    ),
]
